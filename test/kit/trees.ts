import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitEnvironment } from '../../src/evidence/environment.ts';
import { treeOf } from '../../src/evidence/tree-hash.ts';
import { temporaryDirectory } from './file-store.ts';

/** A folder with a difficult name, removed after the test. */
export function folder(): string {
  const path = join(realpathSync(temporaryDirectory()), 'case: 1');
  mkdirSync(path);
  return path;
}

const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'protocol.file.allow=always'];
const env = { ...gitEnvironment(process.env), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', [...identity, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim();
export const put = (root: string, path: string, content = path): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

export function repository(files: Record<string, string> = { 'a.txt': 'a', 'src/b.txt': 'b' }): string {
  const root = folder();
  git(root, 'init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first', '--allow-empty');
  return root;
}

export const hashOf = async (
  worktree: string,
  options: { paths?: string[]; exclude?: string[] } = {},
): Promise<string> => {
  const tree = await treeOf({ worktree, boundMs: 60_000, ...options });
  return tree.hash ?? `unknown: ${tree.unknown}`;
};
