import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { hookLogEntries } from '../../hooks/index.ts';
import { type Definition, ended, requiredReading, type State } from '../../machine/index.ts';
import { ago, count } from '../../messages/index.ts';
import {
  type Check,
  createBindings,
  findInformal,
  type LocalRuntime,
  readInformal,
  renewMarks,
} from '../../runtime/index.ts';
import { createMarks, readState } from '../../workspace/index.ts';

const day = 24 * 3_600_000;
const maxRuns = 5;
const manyEnded = 30;

/** Covers seed 002's troubleshooting: is the state written, current, delivered and read, and do old runs pile up. */
export async function checkRuns(runtime: LocalRuntime, now: number): Promise<Check[]> {
  const { engine, project } = runtime;
  // Read before the runs are loaded, because loading rewrites an outdated state file.
  const written = new Map((await engine.ids()).map((run) => [run, writtenAt(project, run)]));
  const runs = await engine.runs();
  const broken = runs.flatMap(({ run, problem }): Check[] =>
    problem === undefined
      ? []
      : [{ what: 'run', state: 'wrong', says: `${run}: ${problem}`, next: `${commandName()} repair ${run}` }],
  );
  const live = runs.filter(({ state }) => state && !ended(state));
  const views = await Promise.all(live.slice(0, maxRuns).map(({ run }) => engine.view(run)));
  const each = views.flatMap((view) =>
    view ? checkRun(view, written.get(view.state.run), runtime, now) : [],
  );
  const endedCount = runs.filter(({ state }) => state && ended(state)).length;
  return [
    ...broken,
    ...(live.length === 0 ? checkNoRun(runtime) : each),
    ...(await checkMarks(runtime, live.length)),
    ...(endedCount > manyEnded
      ? [
          {
            what: 'runs',
            state: 'note',
            says: `${endedCount} ended runs are kept`,
            next: `${commandName()} clean`,
          } as const,
        ]
      : []),
  ];
}

/** Explains why there is no live run. */
function checkNoRun({ project }: LocalRuntime): Check[] {
  const informal = findInformal(project);
  const [first] = informal;
  if (first)
    return [
      {
        what: 'runs',
        state: 'note',
        says: `no live run, but ${first.source.replace('{project_root}/', '')} describes work in progress`,
        next: `${commandName()} adopt (Claude Code runs it before its next compaction)`,
      },
    ];
  const none: Check = { what: 'runs', state: 'ok', says: 'no live run, so hooks do nothing' };
  if (!existsSync(join(project.worktree, 'CLAUDE.local.md'))) return [none];
  const read = readInformal(project, 'CLAUDE.local.md');
  const why = 'why' in read ? read.why : '';
  return [none, { what: 'runs', state: 'note', says: `CLAUDE.local.md ${why}` }];
}

type View = { run: string; definition: Definition; state: State };

function checkRun(
  { definition, state }: View,
  before: number | undefined,
  { project, serverOf }: LocalRuntime,
  now: number,
): Check[] {
  const { run, updatedAt } = state;
  const what = run.split('-').at(-1) ?? run;
  const isBehind = (time: number | undefined): boolean => time === undefined || time < updatedAt - 1;
  const checks: Check[] = [];
  const url = serverOf(run);
  if (url !== undefined) {
    const says = `${state.workflow} at '${state.step}', on ${url}, changed ${ago(updatedAt, now)}`;
    checks.push({ what, state: 'ok', says });
  } else if (isBehind(writtenAt(project, run)))
    checks.push({
      what,
      state: 'wrong',
      says: 'state.json is not writable; the journal is authoritative, so nothing is lost',
      next: `check the permissions of .stepfast/runs/${run}`,
    });
  else if (isBehind(before)) {
    const how = before === undefined ? 'was missing' : 'was older than the journal';
    checks.push({ what, state: 'note', says: `state.json ${how} and was rewritten` });
  } else {
    const says = `${state.workflow} at '${state.step}', state.json written ${ago(updatedAt, now)}`;
    checks.push({ what, state: 'ok', says });
  }
  checks.push(...checkDelivery(what, state), ...checkReading(what, { definition, state }, project));
  return checks;
}

/** Checks that the newest session received its briefing. */
function checkDelivery(what: string, { briefings, sessions, run }: State): Check[] {
  const newest = Object.entries(sessions)
    .filter(([, { endedAt }]) => endedAt === undefined)
    .sort(([, a], [, b]) => b.startedAt - a.startedAt)[0]?.[0];
  const last = newest === undefined ? undefined : briefings[newest];
  if (!last) return [];
  if (last.proven !== 'none')
    return [{ what, state: 'ok', says: `last briefing delivered (observed by ${last.proven})` }];
  return [
    {
      what,
      state: 'note',
      says: 'delivery of the last briefing is not confirmed; it is sent again at the next prompt or tool call',
      next: `or print it yourself: ${commandName()} prime --run-id ${run}`,
    },
  ];
}

function checkReading(
  what: string,
  { definition, state }: Pick<View, 'definition' | 'state'>,
  project: LocalRuntime['project'],
): Check[] {
  const required = requiredReading(definition, state);
  const unread = required.filter((path) => readState(state, path, project) !== 'read');
  if (required.length === 0) return [];
  if (unread.length === 0)
    return [{ what, state: 'ok', says: `${count(required.length, 'required file')} read` }];
  return [
    {
      what,
      state: 'note',
      says: `current version not read: ${unread.join(', ')}`,
      next: 'the agent reads them; briefings list them',
    },
  ];
}

/** Hooks run only for marked runs, so missing marks are restored. */
async function checkMarks({ engine, project }: LocalRuntime, live: number): Promise<Check[]> {
  const folder = join(project.directory, 'sessions', 'marks');
  const seen = (): string => JSON.stringify([createMarks(project.directory).reasons().sort(), names(folder)]);
  const before = seen();
  await renewMarks(engine, project.directory);
  const what = 'marks';
  if (seen() !== before) return [{ what, state: 'note', says: 'did not match the runs and were restored' }];
  return live === 0 ? [] : [{ what, state: 'ok', says: 'match the runs' }];
}

/** Reports when hooks last ran, and their recent errors. */
export async function checkHooks({ project, engine }: LocalRuntime, now: number): Promise<Check[]> {
  const what = 'hooks';
  const events = hookLogEntries(project);
  const errors = events.filter((event) => event.what === 'error' && now - event.now < day);
  const bindings = await createBindings(project.directory).list();
  const last = Math.max(0, ...events.map((event) => event.now), ...bindings.map(({ seenAt }) => seenAt));
  const live = (await engine.runs()).some(({ state }) => state && !ended(state));
  const checks: Check[] = [];
  const newest = errors.at(-1);
  if (newest?.what === 'error')
    checks.push({
      what,
      state: 'wrong',
      says: `${count(errors.length, 'error')} in the last day, most recently in ${newest.event}: ${newest.message}`,
      next: `${commandName()} doctor --live`,
    });
  if (last > 0) checks.push({ what, state: 'ok', says: `last ran ${ago(last, now)}` });
  else if (live)
    checks.push({
      what,
      state: 'note',
      says: 'a run is live, but no hook has run yet',
      next: `start a new session, without --bare. Then: ${commandName()} doctor --live`,
    });
  else checks.push({ what, state: 'ok', says: 'none has run yet, and no run needs one' });
  return checks;
}

function writtenAt({ directory }: LocalRuntime['project'], run: string): number | undefined {
  try {
    const text = readFileSync(join(directory, 'runs', run, 'state.json'), 'utf8');
    const time = Date.parse(JSON.parse(text).updated_at);
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
