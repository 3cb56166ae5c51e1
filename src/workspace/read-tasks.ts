import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { taskNamed, tasksFromList } from '../engine/index.ts';
import { createMatcher, git, gitEnvironment } from '../evidence/index.ts';
import type { Prepared, Step, TaskInput } from '../machine/index.ts';
import { containedFile } from './contained-file.ts';

type Source = NonNullable<Step['tasks']>;

const gitMs = 10_000;
const maxFiles = 20_000;
const maxBytes = 4 * 1024 * 1024;

/** The tasks of a loop that are in files of the worktree; `problem` is for a person. */
export async function readTasks(
  { files, checklist, json }: Source,
  worktree: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Prepared> {
  if (files !== undefined) return tasksFromFiles(await filesIn(worktree, env), files);
  const path = checklist ?? json ?? '';
  const text = textOf(worktree, path);
  if (text === undefined) return { problem: `there is no text file '${path}' in the worktree` };
  return checklist === undefined ? tasksFromJson(text, path) : tasksFromChecklist(text);
}

function tasksFromFiles(paths: readonly string[], glob: string): Prepared {
  const matches = createMatcher([glob]);
  return { tasks: paths.filter(matches).flatMap((path) => taskNamed(path) ?? []) };
}

/** Items that are not checked: `- [ ] Write the parser`. */
function tasksFromChecklist(text: string): Prepared {
  const open = [...text.matchAll(/^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[ \][ \t]+(.+)$/gm)];
  return {
    tasks: open.flatMap(([, title = '']): TaskInput[] =>
      [taskNamed(title)].filter((task) => task !== undefined),
    ),
  };
}

function tasksFromJson(text: string, path: string): Prepared {
  try {
    return tasksFromList(JSON.parse(text), path);
  } catch (error) {
    return { problem: `'${path}' is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function textOf(worktree: string, path: string): string | undefined {
  const file = containedFile(worktree, path);
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || !found?.isFile() || found.size > maxBytes) return undefined;
  const bytes = readFileSync(file);
  return bytes.includes(0) ? undefined : bytes.toString('utf8').replaceAll(/\r\n?/g, '\n');
}

/** As the hash of the tree sees them: what git does not ignore; without git, what is in no folder of tools. */
async function filesIn(
  worktree: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const { code, stdout } = await git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: worktree,
    env: gitEnvironment(env),
    deadline: performance.now() + gitMs,
  });
  const listed = code === 0 ? stdout.toString('utf8').split('\0').filter(Boolean) : walk(worktree, '', []);
  const isThere = (path: string): boolean =>
    statSync(join(worktree, path), { throwIfNoEntry: false })?.isFile() === true;
  return [...new Set(listed)].filter((path) => !/^\.stepfast\//.test(path) && isThere(path)).sort();
}

const skipped =
  /^(?:\.git|\.hg|\.svn|\.jj|\.stepfast|node_modules|\.venv|__pycache__|\.cache|coverage|dist)$/;

function walk(root: string, folder: string, found: string[]): string[] {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (skipped.test(entry.name) || found.length >= maxFiles) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(root, path, found);
    else if (entry.isFile()) found.push(path);
  }
  return found;
}
