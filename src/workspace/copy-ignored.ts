import {
  constants,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { createMatcher, type GitResult, git, gitEnvironment } from '../evidence/index.ts';
import { containedFile } from './contained-file.ts';

interface Copying {
  /** The project in the main worktree. */
  from: string;
  /** The top of the new worktree. */
  to: string;
  env: Readonly<Record<string, string | undefined>>;
}

const gitMs = 60_000;

/**
 * Copies files that git ignores into a new worktree, to the same place; returns why it could not. It replaces no
 * tracked file, and no link leads it out of either worktree. Copying again replaces what was copied before.
 */
export async function copyIgnored(given: readonly string[], copying: Copying): Promise<string | undefined> {
  const { from, env } = copying;
  const patterns = given.map((pattern) => pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''));
  const run = (cwd: string, ...args: string[]): Promise<GitResult> =>
    git(args, { cwd, env: gitEnvironment(env), deadline: performance.now() + gitMs });
  const prefix = await run(from, 'rev-parse', '--show-prefix');
  const to = join(copying.to, prefix.stdout.toString('utf8').trim());
  const where = ['--', ...new Set(patterns.map((pattern) => `:(literal)${folderOf(pattern)}`))];
  try {
    mkdirSync(to, { recursive: true });
    const ignored = await run(
      from,
      'ls-files',
      '-z',
      '--others',
      '--ignored',
      '--exclude-standard',
      ...where,
    );
    const tracked = await run(to, 'ls-files', '-z', '--cached', ...where);
    const failed = [prefix, ignored, tracked].find(({ code }) => code !== 0);
    if (failed) return `git could not list the files to copy: ${failed.stderr.trim() || failed.failure}`;
    const files = namesIn(ignored).filter(createMatcher(patterns)).filter(isOpen);
    const missing = patterns.find((pattern) => !files.some(createMatcher([pattern])));
    if (missing !== undefined) return whyMissing(from, missing);
    const known = new Set(namesIn(tracked));
    for (const file of files) {
      const problem = known.has(file)
        ? 'is tracked by git on the branch of the task'
        : await copyOne(file, from, to);
      if (problem !== undefined) return `'${file}' ${problem}`;
    }
    return undefined;
  } catch (error) {
    return `files could not be copied: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The folder of a pattern before its first wildcard; a plain path is itself. */
function folderOf(pattern: string): string {
  const at = pattern.search(/[*?]/);
  return at < 0 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', at) + 1).replace(/\/$/, '') || '.';
}

/** A repository in an ignored folder is listed as a folder, and is not copied. */
const namesIn = ({ stdout }: GitResult): string[] =>
  stdout
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '' && !name.endsWith('/'));

const isOpen = (path: string): boolean => !/(?:^|\/)\.(?:git|stepfast)(?:\/|$)/i.test(path);

function whyMissing(from: string, pattern: string): string {
  if (/[*?]/.test(pattern)) return `no file that git ignores matches '${pattern}' in the main worktree`;
  return lstatSync(join(from, pattern), { throwIfNoEntry: false })
    ? `git does not ignore '${pattern}', and only ignored files are copied`
    : `there is no '${pattern}' in the main worktree`;
}

/** A second name first, so that no link is followed and a file appears with all of its content. */
async function copyOne(file: string, from: string, to: string): Promise<string | undefined> {
  const source = join(from, file);
  const draft = containedFile(to, `${file}.stepfast-copy`);
  if (draft === undefined) return 'would be outside of the new worktree';
  const found = lstatSync(source);
  if (found.isSymbolicLink() && leadsOut(source, from))
    return 'is a link that leads out of the main worktree';
  if (!found.isFile() && !found.isSymbolicLink()) return 'is no file';
  mkdirSync(dirname(draft), { recursive: true });
  rmSync(draft, { force: true });
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(source), draft);
  else await copyFile(source, draft, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  renameSync(draft, join(to, file));
  return undefined;
}

function leadsOut(link: string, root: string): boolean {
  const target = readlinkSync(link);
  if (isAbsolute(target) || !isInside(resolve(dirname(link), target), root)) return true;
  try {
    return !isInside(realpathSync(link), realpathSync(root));
  } catch {
    // It leads to nothing yet.
    return false;
  }
}

const isInside = (path: string, root: string): boolean => {
  const inner = relative(root, path);
  return !isAbsolute(inner) && inner.split(sep)[0] !== '..';
};
