import { printable } from './printable.ts';

/** Runs git in the worktree; undefined if it fails. */
export type Git = (args: readonly string[]) => Promise<string | undefined>;

const maxLines = 20;
const maxLine = 200;

/** Branch, commit and changed files; undefined outside a repository. */
export async function gitInfo(git: Git): Promise<string | undefined> {
  const status = await git([
    'status',
    '--porcelain=v1',
    '--branch',
    '--untracked-files=normal',
    '--ignore-submodules=dirty',
    '--no-renames',
  ]);
  if (status === undefined) return undefined;
  const [head = '', ...changed] = status.split('\n').filter((line) => line !== '');
  const commit = await git(['log', '-1', '--no-show-signature', '--no-color', '--format=%h %s']);
  const more = changed.length - maxLines;
  return [
    `branch: ${short(head.replace(/^## /, ''))}`,
    `commit: ${short(commit?.trim() || 'none yet')}`,
    changed.length === 0 ? 'changed files: none' : `changed files: ${changed.length}`,
    ...changed.slice(0, maxLines).map((line) => `  ${short(line)}`),
    ...(more > 0 ? [`  … ${more} more`] : []),
  ].join('\n');
}

function short(line: string): string {
  const clean = printable(line);
  return clean.length > maxLine ? `${clean.slice(0, maxLine - 1)}…` : clean;
}
