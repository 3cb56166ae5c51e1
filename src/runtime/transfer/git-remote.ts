import { commandName } from '../../command-name.ts';
import { redactQuickly } from '../../context/index.ts';
import { StepfastError } from '../../errors.ts';
import type { GitResult } from '../../evidence/index.ts';
import { isRunId } from '../../store/index.ts';
import type { Project } from '../../workspace/index.ts';
import type { Git } from './git.ts';

/** A remote of the user's repository, and its runs. */
export interface Remote {
  name: string;
  /** For display: without credentials. */
  url: string;
  /** Where pushes go; as `url`. */
  pushUrl: string;
  /** Ids of the runs there, fetched once; `odd` are names that are not run ids. */
  runs(): Promise<{ ids: string[]; odd: string[] }>;
  /** Fetches runs into tracking refs of this remote; returns the commit of each, or git's error. */
  fetch(runs: readonly string[]): Promise<Map<string, string | StepfastError>>;
  /** Moves a run there from `old` to `commit`; `moved` if it is no longer at `old`. */
  push(run: string, commit: string, old: string | undefined): Promise<'sent' | 'moved'>;
  /** As a plain `git push` of one branch in a worktree: never forced, and the repository's hooks run. */
  pushBranch(branch: string, worktree: string): Promise<void>;
  /** The default branch there; undefined if it has none. */
  defaultBranch(): Promise<string | undefined>;
  /** Of a branch there, which is fetched, by default its default branch; else as git here names it. Throws `not_found`. */
  commitOf(ref?: string): Promise<string>;
}

const prefix = 'refs/stepfast/runs/';
const tracking = (remote: string, run: string): string => `refs/stepfast/remotes/${remote}/runs/${run}`;
const mostRefs = 20_000;
/** Per line of a ref listing. */
const refBytes = 256;
const transferMs = 300_000;
/** A hook may run tests. */
const hooksMs = 1_800_000;
const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--refmap='];

/** Throws `not_git`, `no_remote`, `not_found`; its methods throw `remote_failed`. */
export async function openRemote(git: Git, project: Project, name: string): Promise<Remote> {
  if (!project.git) {
    const message = `${project.worktree} is no git repository, and runs travel over its remote: use ${commandName()} export and ${commandName()} import instead`;
    throw new StepfastError('not_git', message);
  }
  const names = textOf(await git(['remote']))
    .split('\n')
    .filter(Boolean);
  if (names.length === 0) {
    const message = `This repository has no remote. Add one: git remote add origin <url>; or use ${commandName()} export`;
    throw new StepfastError('no_remote', message);
  }
  if (!names.includes(name))
    throw new StepfastError(
      'not_found',
      `There is no remote '${name}': name one with --remote, of ${names.join(', ')}`,
    );
  const urls = async (...how: string[]): Promise<string[]> =>
    textOf(await git(['remote', 'get-url', ...how, '--all', '--end-of-options', name]))
      .split('\n')
      .filter(Boolean);
  const [from, to] = [await urls(), await urls('--push')];
  const shown = (list: readonly string[]): string => list.map(shownUrl).join(', ');
  const url = shown(from);

  function need(done: GitResult): GitResult {
    if (succeeded(done)) return done;
    throw failed(done, name, url, [...from, ...to]);
  }

  let listed: Promise<{ ids: string[]; odd: string[] }> | undefined;

  async function list(): Promise<{ ids: string[]; odd: string[] }> {
    const done = need(
      await git(['ls-remote', '--quiet', '--refs', '--end-of-options', name, `${prefix}*`], {
        maxBytes: mostRefs * refBytes,
      }),
    );
    const found = textOf(done)
      .split('\n')
      .flatMap((line) => line.split('\t', 2)[1] ?? [])
      .filter((ref) => ref.startsWith(prefix))
      .map((ref) => ref.slice(prefix.length));
    return { ids: found.filter(isRunId), odd: found.filter((id) => !isRunId(id)) };
  }

  async function fetch(wanted: readonly string[]): Promise<Map<string, string | StepfastError>> {
    if (wanted.length === 0) return new Map();
    const done = await fetchRefs(wanted);
    const [only, second] = wanted;
    if (succeeded(done)) return await commitsOf(wanted);
    if (second === undefined) return new Map([[only ?? '', failed(done, name, url, [...from, ...to])]]);
    // One refused run must not block the others.
    const each = new Map<string, string | StepfastError>();
    for (const run of wanted) for (const [id, commit] of await fetch([run])) each.set(id, commit);
    return each;
  }

  function fetchRefs(wanted: readonly string[]): Promise<GitResult> {
    const input = wanted.map((run) => `+${prefix}${run}:${tracking(name, run)}\n`).join('');
    return git(['fetch', ...quietly, '--stdin', '--end-of-options', name], { input, timeoutMs: transferMs });
  }

  async function commitsOf(wanted: readonly string[]): Promise<Map<string, string>> {
    const format = '--format=%(objectname) %(refname)';
    const refs = textOf(await git(['for-each-ref', format, tracking(name, '')]));
    const found = new Map(
      refs.split('\n').map((line) => [line.slice(line.indexOf(' ') + 1), line.split(' ', 1)[0] ?? '']),
    );
    return new Map(
      wanted.flatMap((run): [string, string][] => {
        const commit = found.get(tracking(name, run));
        return commit === undefined ? [] : [[run, commit]];
      }),
    );
  }

  async function push(run: string, commit: string, old: string | undefined): Promise<'sent' | 'moved'> {
    const ref = `${prefix}${run}`;
    const quiet = [
      '--porcelain',
      '--no-verify',
      '--no-follow-tags',
      '--recurse-submodules=no',
      '--no-signed',
    ];
    const done = await git(
      [
        'push',
        ...quiet,
        `--force-with-lease=${ref}:${old ?? ''}`,
        '--end-of-options',
        name,
        `${commit}:${ref}`,
      ],
      { timeoutMs: transferMs },
    );
    // A server hook may also reject a push: only these messages mean that another push came first.
    if (
      done.code !== 0 &&
      /\[(?:rejected|remote rejected)\] \((?:stale info|fetch first|non-fast-forward|.*(?:cannot lock ref|already exists).*)\)/.test(
        textOf(done),
      )
    )
      return 'moved';
    need(done);
    // The next fetch would do the same.
    await git(['update-ref', tracking(name, run), commit]);
    return 'sent';
  }

  async function pushBranch(branch: string, worktree: string): Promise<void> {
    const ref = `refs/heads/${branch}`;
    const only = ['--porcelain', '--no-follow-tags', '--recurse-submodules=no'];
    need(
      await git(['push', ...only, '--end-of-options', name, `${ref}:${ref}`], {
        hooksIn: worktree,
        timeoutMs: hooksMs,
      }),
    );
  }

  async function defaultBranch(): Promise<string | undefined> {
    const listed = textOf(
      need(await git(['ls-remote', '--quiet', '--symref', '--end-of-options', name, 'HEAD'])),
    );
    return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(listed)?.[1];
  }

  async function commitOf(ref?: string): Promise<string> {
    const wanted = ref ?? (await defaultBranch());
    if (wanted === undefined) throw new StepfastError('not_found', `'${name}' has no default branch`);
    const branch = `refs/heads/${wanted}`;
    const listed = need(await git(['ls-remote', '--quiet', '--refs', '--end-of-options', name, branch]));
    // Git also lists refs that end with the name.
    const line = textOf(listed)
      .split('\n')
      .find((each) => each.endsWith(`\t${branch}`));
    const commit = await commitHere(line?.split('\t', 1)[0] ?? wanted);
    if (commit !== undefined) return commit;
    if (line === undefined)
      throw new StepfastError('not_found', `Neither '${name}' nor this repository has '${wanted}'`);
    // A shallow clone stays shallow, and a whole one whole.
    const shallow = textOf(await git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
    const depth = shallow ? ['--depth=1'] : [];
    need(
      await git(['fetch', ...quietly, ...depth, '--end-of-options', name, branch], { timeoutMs: transferMs }),
    );
    return line.split('\t', 1)[0] ?? '';
  }

  async function commitHere(ref: string): Promise<string | undefined> {
    const found = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]);
    return found.code === 0 ? textOf(found).trim() : undefined;
  }

  const runs = (): Promise<{ ids: string[]; odd: string[] }> => {
    listed ??= list();
    return listed;
  };
  return { name, url, pushUrl: shown(to), runs, fetch, push, pushBranch, defaultBranch, commitOf };
}

const succeeded = ({ code, failure }: GitResult): boolean => code === 0 && failure === undefined;

const textOf = ({ stdout }: GitResult): string => stdout.toString('utf8');

function failed(
  { code, stdout, stderr, failure }: GitResult,
  name: string,
  url: string,
  urls: readonly string[],
): StepfastError {
  const why =
    failure === 'late'
      ? 'it gave no answer in time'
      : failure === 'long'
        ? 'it answers with more than any list of runs'
        : gitMessage(`${stdout.toString('utf8')}\n${stderr}`, urls) || `git ended with ${code}`;
  const next = 'check the address, your access and the network, then try again';
  return new StepfastError('remote_failed', `The remote '${name}' (${url}) did not do it: ${why}; ${next}`);
}

/** The error of git, on one line and without credentials. */
function gitMessage(said: string, urls: readonly string[]): string {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !/^(?:To |Done$|hint:|Please make sure|and the repository exists)/.test(line),
    );
  const fatal = lines.findIndex((line) => /^(?:fatal|error):/.test(line));
  const relevant = fatal === -1 ? lines.slice(-1) : lines.slice(Math.max(0, fatal - 1), fatal + 1);
  let words = relevant.join('; ');
  // Whole URLs first: passwords may hold anything.
  for (const url of urls) words = words.replaceAll(url, shownUrl(url));
  return withoutCredentials(words).slice(0, 400);
}

/** Without credentials: in a URL, everything up to the last `@`, since passwords may contain one. */
export const shownUrl = (url: string): string =>
  withoutCredentials(url.replace(/:\/\/.*@/s, '://').replace(/^[^\s@/:]+:.*@(?=[^@/]+:)/s, ''));

/** The same for every URL in a text; a query may be a token too. */
export const withoutCredentials = (text: string): string =>
  redactQuickly(
    text
      .replaceAll(/:\/\/[^\s'"]*@/g, '://')
      .replaceAll(/(:\/\/[^\s'"?#]*)[?#][^\s'"]*/g, '$1')
      // user:password@host:path
      .replaceAll(/(?<![^\s'"])[^\s'"@/:]+:[^\s'"@]+@(?=[\w.[\]-]+:)/g, ''),
  );
