import { existsSync } from 'node:fs';
import { redactQuickly } from '../../context/index.ts';
import { type Definition, requiredReading, type State } from '../../machine/index.ts';
import { containedFile, type Project, readState } from '../../workspace/index.ts';

/** What is not here as it was where the run was last worked on. */
export interface Difference {
  kind: 'machine' | 'commit' | 'missing' | 'reading' | 'evidence' | 'trust';
  /** A sentence. */
  what: string;
}

export interface CurrentEnvironment {
  project: Project;
  /** Of this session: hostname, git_commit and the like. */
  environment: Readonly<Record<string, string>>;
  session?: string | undefined;
  /** The hash of the tree as it is now. */
  tree?: string | undefined;
}

const mostNamed = 5;
const longestName = 120;

/** Compares this environment with that of the session that worked on the run last; nothing where none did. */
export function differences(definition: Definition, state: State, here: CurrentEnvironment): Difference[] {
  const { project, tree } = here;
  const found: Difference[] = [...elsewhere(state, here)];
  const missing = state.artefacts.map(withoutPrefix).filter((path) => !isHere(path, project));
  if (missing.length > 0)
    found.push({ kind: 'missing', what: `Files that the run made are not here: ${listed(missing)}.` });
  const reading = requiredReading(definition, state).map((path) => ({
    path,
    state: readState(state, path, project),
  }));
  const gone = reading.filter((each) => each.state === 'missing').map(({ path }) => path);
  if (gone.length > 0)
    found.push({ kind: 'missing', what: `Required reading is not here: ${listed(gone)}.` });
  const changed = reading.filter((each) => each.state === 'changed').map(({ path }) => path);
  if (changed.length > 0)
    found.push({ kind: 'reading', what: `Changed since it was read: ${listed(changed)}.` });
  const stale = tree === undefined ? [] : staleGates(state, tree);
  if (stale.length > 0)
    found.push({ kind: 'evidence', what: `Passed on another tree than the one here: ${listed(stale)}.` });
  return found;
}

/** Whoever worked on it last, not who looked at it. */
function elsewhere({ sessions, last }: State, { environment, session }: CurrentEnvironment): Difference[] {
  const others = Object.entries(sessions).filter(([id, each]) => id !== session && each.environment);
  const newest = others.sort(([, a], [, b]) => a.startedAt - b.startedAt).at(-1)?.[0];
  const worker = others.some(([id]) => id === last?.session) ? last?.session : newest;
  const there = worker === undefined || worker === session ? undefined : sessions[worker]?.environment;
  if (!there || (last?.session !== undefined && last.session === session)) return [];
  const found: Difference[] = [];
  if (there.hostname !== undefined && there.hostname !== environment.hostname)
    found.push({
      kind: 'machine',
      what: `It was worked on at ${there.hostname}, and this is ${environment.hostname}.`,
    });
  const [commit, now] = [there.git_commit, environment.git_commit];
  if (commit !== undefined && now !== undefined && commit !== now)
    found.push({
      kind: 'commit',
      what: `The commit was ${short(commit)} there and is ${short(now)} here: fetch it, or say why not.`,
    });
  return found;
}

/** The gates behind what is done, as each passed last, where the tree was another. */
function staleGates({ outputs }: State, tree: string): string[] {
  const last = new Map<string, string | undefined>();
  for (const output of Object.values(outputs).sort((a, b) => a.now - b.now))
    for (const { what, pass, role, exit } of output.receipts)
      if (pass && role !== 'until' && exit !== undefined) last.set(what, output.tree);
  return [...last].filter(([, of]) => of !== undefined && of !== tree).map(([what]) => what);
}

const withoutPrefix = (path: string): string => path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '');

function isHere(path: string, { worktree }: Project): boolean {
  const file = containedFile(worktree, path);
  // What leads out of the project says nothing about it.
  return file === undefined || existsSync(file);
}

const short = (commit: string): string => commit.slice(0, 7);

/** Names are an agent's own words. */
function listed(items: readonly string[]): string {
  const names = items.slice(0, mostNamed).map((item) => redactQuickly(item).slice(0, longestName));
  const more = items.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
