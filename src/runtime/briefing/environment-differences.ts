import { existsSync } from 'node:fs';
import { redactQuickly } from '../../context/index.ts';
import { type Definition, receiptValidity, requiredReading, type State } from '../../machine/index.ts';
import { containedFile, type Project, readState } from '../../workspace/index.ts';

/** A difference between this environment and the one of the last session of the run. */
export interface Difference {
  kind: 'machine' | 'commit' | 'missing' | 'reading' | 'evidence' | 'trust';
  what: string;
}

export interface CurrentEnvironment {
  project: Project;
  /** Of this session: hostname, git_commit and so on. */
  environment: Readonly<Record<string, string>>;
  session?: string | undefined;
  /** The hash of the current tree. */
  tree?: string | undefined;
}

const mostNamed = 5;
const longestName = 120;

/** Compares this environment with that of the session that worked on the run last, if there is one. */
export function differences(definition: Definition, state: State, here: CurrentEnvironment): Difference[] {
  const { project, tree } = here;
  const found: Difference[] = [...elsewhere(state, here)];
  const missing = state.artefacts.map(withoutPrefix).filter((path) => !isHere(path, project));
  if (missing.length > 0)
    found.push({
      kind: 'missing',
      what: `Files that the run produced do not exist here: ${listed(missing)}.`,
    });
  const reading = requiredReading(definition, state).map((path) => ({
    path,
    state: readState(state, path, project),
  }));
  const gone = reading.filter((each) => each.state === 'missing').map(({ path }) => path);
  if (gone.length > 0)
    found.push({ kind: 'missing', what: `Required reading does not exist here: ${listed(gone)}.` });
  const changed = reading.filter((each) => each.state === 'changed').map(({ path }) => path);
  if (changed.length > 0)
    found.push({ kind: 'reading', what: `Changed since it was read: ${listed(changed)}.` });
  const stale = staleGates(state, tree);
  if (stale.length > 0)
    found.push({ kind: 'evidence', what: `Passed on another tree, not on this one: ${listed(stale)}.` });
  return found;
}

/** Compares with the session that worked last, not with one that only read the status. */
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
      what: `The last session ran on ${there.hostname}; this is ${environment.hostname}.`,
    });
  const [commit, now] = [there.git_commit, environment.git_commit];
  if (commit !== undefined && now !== undefined && commit !== now)
    found.push({
      kind: 'commit',
      what: `The commit was ${short(commit)} there and is ${short(now)} here: fetch it, or explain why not.`,
    });
  return found;
}

/** Gates whose last pass was on another tree. A failure that was expected on it is not expected again. */
function staleGates({ outputs }: State, tree: string | undefined): string[] {
  const last = new Map<string, string | undefined>();
  for (const output of Object.values(outputs).sort((a, b) => a.now - b.now))
    for (const { what, pass, role, exit, expect } of output.receipts)
      if (pass && role !== 'until' && exit !== undefined && expect === undefined) last.set(what, output.tree);
  return [...last].filter(([, of]) => receiptValidity(of, tree) === 'stale').map(([what]) => what);
}

const withoutPrefix = (path: string): string => path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '');

function isHere(path: string, { worktree }: Project): boolean {
  const file = containedFile(worktree, path);
  // A path outside the project is not checked.
  return file === undefined || existsSync(file);
}

const short = (commit: string): string => commit.slice(0, 7);

/** Names come from agents, so secrets are redacted. */
function listed(items: readonly string[]): string {
  const names = items.slice(0, mostNamed).map((item) => redactQuickly(item).slice(0, longestName));
  const more = items.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
