import { deniedPath } from '../secrets/denied-path.ts';

/** Names that directory listings leave out: caches, dependencies and version control. */
export const unlistedNames: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  '.DS_Store',
  '.cache',
  '.next',
  '.nuxt',
  '.turbo',
  '.venv',
  '.pytest_cache',
  '.mypy_cache',
  '__pycache__',
  'bower_components',
  'coverage',
  'node_modules',
  'venv',
]);

const readableRunFiles = new Set(['state.json', 'workflow.json', 'todo.md', 'outputs']);

/** Why a path must not be shown: it belongs to git or to another run, or usually holds secrets. */
export function pathProblem(segments: readonly string[], run: string, listing: boolean): string | undefined {
  // Windows ignores case and trailing dots and spaces, so these variants name the same file.
  const names = segments.map((segment) =>
    segment
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]{1,255}$/, ''),
  );
  if (names.some((name) => name === '.git' || name.startsWith('.git:') || name === 'git~1'))
    return "belongs to git: use the type git_info, or name one of the project's own files";
  for (const [index, name] of names.entries()) {
    if (name !== '.stepfast' && name !== 'stepfa~1') continue;
    const [part, id, file] = names.slice(index + 1);
    if (part !== 'runs' && part !== 'worktrees') continue;
    const own =
      index === 0 && part === 'runs' && id === run.toLowerCase() && readableRunFiles.has(file ?? '');
    if (!own)
      return 'belongs to a run: only state.json, workflow.json, TODO.md and outputs/ of this run can be shown';
  }
  if (!listing && deniedPath(segments.join('/')))
    return 'usually holds secrets: name a file without secrets (.env.example)';
  return undefined;
}

/** Whether the path is inside the run's own directory, which all worktrees share. */
export const isOwnRunFile = (segments: readonly string[], run: string): boolean =>
  segments[0] === '.stepfast' && segments[1] === 'runs' && segments[2] === run && segments.length > 3;

export const isOwnState = (segments: readonly string[], run: string): boolean =>
  isOwnRunFile(fractary(segments), run) && segments.length === 4 && segments[3] === 'state.json';

/** Where FABER has its runs. */
const fractary = (segments: readonly string[]): readonly string[] =>
  segments[0] === '.fractary' ? ['.stepfast', ...segments.slice(1)] : segments;
