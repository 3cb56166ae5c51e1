import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cursor, handleOf, receiptValidity, type State } from '../../machine/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import type { LocalWorkspace } from '../../workspace/index.ts';
import { checkPages } from './check-pages.ts';
import type { ChangePage, CheckPage, FilesPage, PositionFiles } from './pages.ts';

const maxWritten = 100;
const maxListed = 200;
const maxCounted = 1024 * 1024;

/** What the worktrees of a run are like now, compared with its evidence. Reads only what is on this machine. */
export async function filesPage(
  view: Loaded,
  entries: readonly StoredEntry[],
  workspace: LocalWorkspace,
): Promise<FilesPage> {
  const { definition, state } = view;
  const checks = checkPages(definition, state, entries);
  const askedBy = new Map(
    entries.flatMap(({ session, events }) =>
      events.flatMap((event) =>
        event.type === 'gates.requested' ? [[event.id, event.session ?? session] as const] : [],
      ),
    ),
  );
  const positions = await Promise.all(
    Object.values(state.cursors).map(async (cursor): Promise<PositionFiles[]> => {
      const at = handleOf(state, cursor);
      const check = checks.find(({ id, state: is }) => id.startsWith(`${at}!`) && is === 'finished');
      const review = cursor.waiting?.kind === 'review' ? cursor.waiting : undefined;
      if (!check && !review) return [];
      const worker = review?.session ?? (check && askedBy.get(check.id));
      const worktree =
        workspace.taskWorktree(view.run, cursor.task) ?? workspace.gates.worktreeOf(state, worker);
      if (worktree === undefined) return [];
      return [{ at, ...(await comparedFiles(view, cursor, { check, worktree }, workspace)) }];
    }),
  );
  return { positions: positions.flat() };
}

async function comparedFiles(
  { definition, state }: Loaded,
  { waiting }: Cursor,
  { check, worktree }: { check: CheckPage | undefined; worktree: string },
  workspace: LocalWorkspace,
): Promise<Omit<PositionFiles, 'at'>> {
  const tree = (await workspace.tree(definition, worktree))?.hash;
  const review = waiting?.kind === 'review' ? waiting : undefined;
  const validity = receiptValidity(review?.tree ?? check?.tree, tree);
  const since = check?.now ?? review?.since ?? 0;
  const change = await changeSince(state, worktree, workspace);
  return {
    ...(check ? { check: check.id } : {}),
    validity,
    ...(tree === undefined ? {} : { tree }),
    written: validity === 'stale' ? await writtenSince(since, worktree, workspace) : [],
    ...(change ? { change } : {}),
  };
}

const listing = ['ls-files', '-z', '--full-name', '--exclude-standard', '--others'];

/** The hash decides whether files have changed; the times of files only say which. */
async function writtenSince(since: number, worktree: string, { git }: LocalWorkspace): Promise<string[]> {
  const files = split(await git([...listing, '--cached', ':/'], worktree));
  const written = [...new Set(files)].filter((file) => {
    const found = lstatSync(join(worktree, file), { throwIfNoEntry: false });
    return found !== undefined && found.ctimeMs > since && !file.startsWith('.stepfast/');
  });
  return written.sort().slice(0, maxWritten);
}

/** Compared with the commit that the first session found. */
async function changeSince(
  { sessions }: State,
  worktree: string,
  { git }: LocalWorkspace,
): Promise<ChangePage | undefined> {
  const [first] = Object.values(sessions).sort((a, b) => a.startedAt - b.startedAt);
  const commit = first?.environment?.git_commit ?? '';
  if (!/^[\da-f]{40,64}$/.test(commit)) return undefined;
  const diff = await git(['diff', '--numstat', '-z', '--no-renames', commit, '--'], worktree);
  if (diff === undefined) return undefined;
  const tracked = split(diff).map(fileChange);
  const untracked = split(await git([...listing, ':/'], worktree)).map((path) => newFile(worktree, path));
  const all: ChangePage['largest'] = [...tracked, ...untracked].filter(
    ({ path }) => !path.startsWith('.stepfast/'),
  );
  const sum = (of: 'added' | 'removed'): number => all.reduce((total, file) => total + (file[of] ?? 0), 0);
  const size = ({ added = 0, removed = 0 }: (typeof all)[number]): number => added + removed;
  return {
    commit,
    files: all.length,
    added: sum('added'),
    removed: sum('removed'),
    largest: all.sort((a, b) => size(b) - size(a)).slice(0, maxListed),
  };
}

/** `12\t3\tsrc/a.ts`; a binary file has dashes. */
function fileChange(line: string): ChangePage['largest'][number] {
  const [added = '', removed = '', ...path] = line.split('\t');
  const lines = added === '-' ? {} : { added: Number(added), removed: Number(removed) };
  return { path: path.join('\t'), ...lines };
}

/** Git counts lines only of files that it tracks. */
function newFile(worktree: string, path: string): ChangePage['largest'][number] {
  const found = lstatSync(join(worktree, path), { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > maxCounted) return { path, isNew: true };
  const content = readFileSync(join(worktree, path));
  if (content.includes(0)) return { path, isNew: true };
  const ends = content.toString('latin1').split('\n');
  return { path, isNew: true, added: ends.at(-1) === '' ? ends.length - 1 : ends.length, removed: 0 };
}

const split = (text = ''): string[] => text.split('\0').filter((each) => each !== '');
