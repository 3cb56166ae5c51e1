import {
  type Binding,
  beginSession,
  createBindings,
  type HookInput,
  type HookOutput,
  type Host,
  isHeld,
} from '../runtime/index.ts';
import {
  bootId,
  createMarks,
  isAlive,
  machineId,
  markedRuns,
  type Project,
  portable,
  stateDirectory,
} from '../workspace/index.ts';
import { type Around, keyOf } from './active-project.ts';
import { type Compiled, type Facts, journalSize, looksOf, readFacts } from './facts.ts';
import { log } from './hook-log.ts';
import { innerPath } from './path-in-worktree.ts';
import { knownThen, listed, twoLines, unbriefed } from './run-notices.ts';
import { type Notebook, type Sent, wasBriefed, watchTools } from './session-record.ts';

/** How long a session counts as just seen. */
const quietMs = 60_000;
const minute = 60_000;
/** How old a briefing may be that was compiled before a compaction. */
const aheadMs = 10 * minute;
/** How old facts of a run on a server may be for what is asked with every tool. */
const sharedMs = 30_000;

interface Surroundings {
  project: Project;
  around: Around;
  notebook: Notebook;
}

/**
 * What can be said without the run itself: that there is nothing to do, or what was compiled ahead. undefined where
 * the run must be asked. `away`: it was, and its server did not answer, so what was known before is said as that.
 */
export async function quickly(
  host: Host,
  input: HookInput,
  { project, around, notebook, away = false }: Surroundings & { away?: boolean },
): Promise<HookOutput | undefined> {
  if (away && input.kind === 'before_compact') return kept();
  if (away && (input.kind !== 'session_start' || input.agent)) return undefined;
  if (input.kind === 'session_start') return await started();
  if (input.kind === 'stop' && isHeld(createMarks(project.directory))) return undefined;
  const { sent } = notebook;
  if (sent && !sent.proven) return undefined;
  if (input.kind === 'before_tool') return isFree() ? {} : undefined;
  const quiet = input.kind === 'after_tool' || (input.kind === 'prompt' && sent) || input.kind === 'stop';
  if (!quiet) return undefined;
  const binding = await createBindings(project.directory).get(keyOf(input));
  if (!binding) return input.tool?.kind === 'stepfast' ? undefined : {};
  if (around.now() - binding.seenAt >= quietMs) return undefined;
  return concerns(binding) ? undefined : {};

  function concerns(bound: Binding): boolean {
    const facts = readFacts(project, bound.run, around.now() - sharedMs);
    if (!facts) return true;
    if (input.kind === 'stop') return facts.holds || facts.asks;
    if (input.kind === 'prompt') return false;
    const { kind, path, whole } = input.tool ?? { kind: 'other' };
    if (kind === 'stepfast') return true;
    const inner = path === undefined ? undefined : innerPath(project.worktree, path);
    if (inner === undefined) return false;
    if (kind === 'write') return !facts.artefacts.includes(inner);
    return kind === 'read' && whole === true && facts.reading.includes(inner);
  }

  /** No agent of any run is forbidden this tool, and no subagent is started. */
  function isFree(): boolean {
    const { tool } = input;
    if (tool?.kind === 'agent') return false;
    const facts = all(around.now() - sharedMs);
    const names = facts?.flatMap(({ cannot }) => cannot) ?? ['*'];
    return !names.some((name) => name.endsWith('*') || name === tool?.name);
  }

  function all(since?: number): Facts[] | undefined {
    const facts = markedRuns(createMarks(project.directory)).map((run) => readFacts(project, run, since));
    const known = facts.flatMap((each) => each ?? []);
    return away || known.length === facts.length ? known : undefined;
  }

  async function started(): Promise<HookOutput | undefined> {
    const ready = input.source === 'compact' ? compacted() : undefined;
    if (ready || (input.source === 'compact' && !away)) return ready;
    const fresh = input.source === 'startup' && !input.agent;
    const facts = fresh || away ? all(away ? 0 : undefined) : undefined;
    if (!facts) return undefined;
    const { host: name, session, source = 'startup', cwd } = input;
    const now = around.now();
    const start = {
      host: name,
      session,
      source,
      cwd: portable(cwd, project.root),
      worktree: portable(project.worktree, project.root),
      ...(around.pid === undefined ? {} : { pid: around.pid }),
    };
    const boot = bootId(machineId(stateDirectory(around)));
    const known = await createBindings(project.directory).list();
    const beginning = beginSession(
      start,
      facts.map(({ live }) => live),
      known,
      { now, boot, isAlive },
    );
    // Whoever was bound before is told to its run.
    if (!away && (beginning.binding || beginning.drop.length > 0)) return undefined;
    if (beginning.kind === 'nothing') return {};
    if (beginning.kind === 'list') return seen('', listed(beginning.runs, beginning.count));
    const about = facts.find(({ live }) => live.run === beginning.run);
    if (!about) return undefined;
    if (beginning.kind === 'two_lines') return seen(beginning.run, twoLines(about.live, beginning.heldBy));
    const telling = {
      run: beginning.run,
      source,
      ...(source === 'compact' ? { owes: { since: now, loads: [] } } : {}),
    };
    if (about.briefing) return inject(about.briefing, telling, now);
    return away ? late(unbriefed(about.live), telling, about.made ?? now) : undefined;
  }

  function seen(run: string, context: string): HookOutput {
    notebook.send({ run, source: 'startup', tries: 1, proven: 'none' });
    return { context };
  }

  /** What was compiled before the compaction, if the run is as it was then. The run is told after it. */
  function compacted(): HookOutput | undefined {
    const { sent } = notebook;
    const now = around.now();
    if (!sent?.ahead || sent.owes || input.agent) return undefined;
    const { journal, loads, ...compiled } = sent.ahead;
    if (journalSize(project, sent.run) !== journal) return undefined;
    // What a server has meanwhile only it can tell.
    if (!away && (journal === 0 || now - compiled.now > aheadMs)) return undefined;
    return inject(compiled, { run: sent.run, source: 'compact', owes: { since: now, loads } }, now);
  }

  function inject(
    { id, text: compiled, at, worktree, files, now: then }: Compiled,
    about: Pick<Sent, 'run' | 'source' | 'owes'>,
    now: number,
  ): HookOutput | undefined {
    if (away) return late(compiled, about, then);
    if (worktree !== project.worktree) return undefined;
    if (files.some(([file, looks]) => looksOf(file) !== looks)) return undefined;
    const minutes = Math.floor((now - then) / minute);
    const age = minutes < 2 ? '' : `\n\nAges are as they were ${minutes} min ago; nothing else has changed.`;
    const text = compiled.length + age.length > host.budget ? compiled : `${compiled}${age}`;
    const { run, source } = about;
    notebook.send({ ...about, id, text, tries: 1, ...(at === undefined ? {} : { at }) });
    watchTools(project, keyOf(input));
    log(project, now, { what: 'injected', run, session: input.session, briefing: id, why: source });
    return { context: text };
  }

  /** The least that a summary must have, and what is injected after it is asked for again. */
  function kept(): HookOutput | undefined {
    const { sent } = notebook;
    if (!wasBriefed(sent) || sent.run === '') return undefined;
    const { run, at } = sent;
    notebook.send({ run, source: 'compact', tries: 1, ...(at === undefined ? {} : { at }) });
    const handle = at === undefined ? '' : `, handle ${at}`;
    return { survive: `Keep this word for word in the summary: Stepfast run ${run}${handle}.\n` };
  }

  /** The next prompt or tool brings what the server says then. */
  function late(text: string, about: Pick<Sent, 'run' | 'source' | 'owes'>, then: number): HookOutput {
    notebook.send({ ...about, tries: 1 });
    watchTools(project, keyOf(input));
    const { run, source } = about;
    log(project, around.now(), {
      what: 'injected',
      run,
      session: input.session,
      briefing: '',
      why: `${source}, away`,
    });
    return { context: `${knownThen(then, around.now())}\n\n${text}` };
  }
}
