import { hash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { stateDirectory, type UserEnvironment } from './user-state.ts';

/** The directories of a project and its runs. */
export interface Project {
  /** The value of `{project_root}`: the project in the main worktree, shared by all worktrees. */
  root: string;
  /** The directory of this session's files and gates. */
  worktree: string;
  /** `.stepfast` of the main worktree; in a bare repository, of its git directory. */
  directory: string;
  git: boolean;
  /** For the worktrees that Stepfast creates: in the user's state directory, outside every repository. */
  worktrees: string;
}

interface Repository {
  /** The top directory of this worktree. */
  top: string;
  /** That of the main worktree, or the git directory of a bare repository. */
  main: string;
}

/**
 * Reads git's files instead of running git, which is faster and works without git. The nearest `.stepfast` below the
 * top of the repository is a separate project, as in a monorepo.
 */
export function findProject(
  cwd: string,
  given: { worktree?: string | undefined; repoRoot?: string | undefined } & UserEnvironment = {},
): Project {
  const from = real(resolve(cwd, given.worktree ?? '.'));
  const repository = findRepository(from);
  const base = findBase(from, repository?.top);
  const shared = repository ? join(repository.main, relative(repository.top, base)) : base;
  const root = given.repoRoot === undefined ? shared : real(resolve(cwd, given.repoRoot));
  return {
    root,
    worktree: base,
    directory: join(root, '.stepfast'),
    git: repository !== undefined,
    worktrees: worktreesIn(stateDirectory(given), root),
  };
}

/** Links are resolved, as in the paths that git and sessions report. */
const worktreesIn = (state: string, root: string): string =>
  join(realParent(state), 'worktrees', `${slug(basename(root))}-${hash('sha256', root, 'hex').slice(0, 8)}`);

/** The folder itself may not exist yet. */
const realParent = (path: string): string =>
  existsSync(path) || path === dirname(path) ? real(path) : join(realParent(dirname(path)), basename(path));

const slug = (name: string): string => name.replaceAll(/[^\w.-]+/g, '-').slice(0, 40);

function findBase(from: string, top: string | undefined): string {
  for (let directory = from; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.stepfast')) || directory === top) return directory;
    if (directory === dirname(directory)) return top ?? from;
  }
}

function findRepository(from: string): Repository | undefined {
  for (let top = from; ; top = dirname(top)) {
    const found = repositoryAt(top);
    if (found) return found;
    if (top === dirname(top)) return undefined;
  }
}

function repositoryAt(top: string): Repository | undefined {
  const dot = join(top, '.git');
  const kind = statSync(dot, { throwIfNoEntry: false });
  if (kind?.isDirectory()) return { top, main: top };
  if (kind?.isFile()) return linked(top, dot);
  return isBare(top) ? { top, main: top } : undefined;
}

/** A linked worktree names its own git directory, which names the common one; a submodule has no common one. */
function linked(top: string, dot: string): Repository {
  const own = resolve(top, /^gitdir:\s*(.+?)\s*$/m.exec(read(dot))?.[1] ?? '.git');
  const common = read(join(own, 'commondir')).trim();
  if (common === '') return { top, main: top };
  const shared = real(resolve(own, common));
  const bare = /^\s*bare\s*=\s*true\s*$/m.test(read(join(shared, 'config')));
  return { top, main: bare || !shared.endsWith(`${sep}.git`) ? shared : dirname(shared) };
}

const isBare = (directory: string): boolean =>
  existsSync(join(directory, 'HEAD')) &&
  existsSync(join(directory, 'objects')) &&
  existsSync(join(directory, 'refs')) &&
  /^\s*bare\s*=\s*true\s*$/m.test(read(join(directory, 'config')));

/** The root of the project in the main worktree; a bare repository has none. */
export const mainWorktree = ({ root }: Project): string | undefined => (isBare(root) ? undefined : root);

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const rootMark = '{project_root}';

/** The stored form of a path: relative to `{project_root}` if possible, with `/` as separator. */
export function portable(path: string, root: string): string {
  const inside = relative(root, resolve(root, path));
  if (inside === '') return rootMark;
  if (isAbsolute(inside)) return path;
  return `${rootMark}/${inside.split(sep).join('/')}`;
}

export const local = (path: string, root: string): string =>
  path === rootMark || path.startsWith(`${rootMark}/`)
    ? join(root, path.slice(rootMark.length))
    : resolve(root, path);
