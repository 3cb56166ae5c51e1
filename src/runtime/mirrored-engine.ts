import { readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { Engine, Executed } from '../engine/index.ts';
import { ended, slug, suffixOf } from '../machine/index.ts';
import { type Loaded, projectState } from '../store/index.ts';
import { containedFile, mainWorktree, type Project, replaceFile } from '../workspace/index.ts';

/**
 * Wraps an engine: a run with `state_mirror` is written to `NAME/state-NAME-START.json` there after each change, in the
 * main worktree, and the file is removed when the run ends. It never replaces a file of another writer, and never fails
 * a call.
 */
export function withMirror(engine: Engine, project: Project): Engine {
  return {
    ...engine,
    begin: async (...given) => mirrored(await engine.begin(...given)),
    execute: async (...given) => mirrored(await engine.execute(...given)),
  };

  async function mirrored<E extends Pick<Executed, 'view' | 'changed'>>(executed: E): Promise<E> {
    try {
      let view = executed.changed ? executed.view : undefined;
      while (view?.definition.state_mirror !== undefined) {
        mirror(view, view.definition.state_mirror);
        // Another process may have changed the run and written its file before this one did.
        const now = await engine.view(view.run);
        if (now?.version.seq === view.version.seq) break;
        view = now;
      }
    } catch {
      // The journal is what counts.
    }
    return executed;
  }

  function mirror(view: Loaded, folder: string): void {
    const worktree = mainWorktree(project) ?? worktreeOf(project);
    const file = worktree === undefined ? undefined : fileFor(worktree, view, folder);
    if (file === undefined) return;
    const { definition, state } = view;
    if (!ended(state))
      return replaceFile(file, `${JSON.stringify(projectState(definition, state), null, 2)}\n`);
    rmSync(file, { force: true });
    // Only if it is empty.
    rmdirSync(dirname(file));
  }
}

/** A task's worktree is removed before the run ends. */
const worktreeOf = ({ worktree, worktrees, directory }: Project): string | undefined =>
  [worktrees, join(directory, 'worktrees')].some((folder) => worktree.startsWith(join(folder, sep)))
    ? undefined
    : worktree;

/** The file that the run has, else a free one. */
function fileFor(worktree: string, { run, state }: Loaded, folder: string): string | undefined {
  const name = slug(state.workflow);
  const start = new Date(state.createdAt)
    .toISOString()
    .slice(0, 19)
    .replaceAll(/[-:]/g, '')
    .replace('T', '_');
  const names = [`state-${name}-${start}.json`, `state-${name}-${start}-${suffixOf(run)}.json`];
  const files = names.flatMap((file) => containedFile(worktree, join(folder, name, file)) ?? []);
  const owners = files.map(ownerOf);
  return files[owners.indexOf(run)] ?? files[owners.indexOf(undefined)];
}

/** The run in the file; undefined without a file, '' for one of another writer. */
function ownerOf(file: string): string | undefined {
  try {
    return String(JSON.parse(readFileSync(file, 'utf8')).run_id ?? '');
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? undefined : '';
  }
}
