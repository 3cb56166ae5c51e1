import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookEvents } from '../../hooks/index.ts';
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
const mostRuns = 5;
const manyEnded = 30;

/** What seed 002's troubleshooting asks: is it written, is it up to date, did it arrive, was it read, does it pile up. */
export async function checkRuns(runtime: LocalRuntime, now: number): Promise<Check[]> {
  const { engine, project } = runtime;
  // Looked at first: to ask for a run writes its file anew where that is behind.
  const written = new Map((await engine.ids()).map((run) => [run, writtenAt(project, run)]));
  const runs = await engine.runs();
  const broken = runs.flatMap(({ run, problem }): Check[] =>
    problem === undefined
      ? []
      : [{ what: 'run', state: 'wrong', says: `${run}: ${problem}`, next: `stepfast repair ${run}` }],
  );
  const live = runs.filter(({ state }) => state && !ended(state));
  const views = await Promise.all(live.slice(0, mostRuns).map(({ run }) => engine.view(run)));
  const each = views.flatMap((view) =>
    view ? checkRun(view, written.get(view.state.run), runtime, now) : [],
  );
  const over = runs.filter(({ state }) => state && ended(state)).length;
  return [
    ...broken,
    ...(live.length === 0 ? checkNone(runtime) : each),
    ...(await checkMarks(runtime, live.length)),
    ...(over > manyEnded
      ? [
          {
            what: 'runs',
            state: 'note',
            says: `${over} runs have ended and are kept`,
            next: 'stepfast clean',
          } as const,
        ]
      : []),
  ];
}

/** Why there is no state to come back to. */
function checkNone({ project }: LocalRuntime): Check[] {
  const informal = findInformal(project);
  const [first] = informal;
  if (first)
    return [
      {
        what: 'runs',
        state: 'note',
        says: `no run is under way, but ${first.source.replace('{project_root}/', '')} describes work in progress`,
        next: 'stepfast adopt (Claude Code does it before its next compaction)',
      },
    ];
  const none: Check = { what: 'runs', state: 'ok', says: 'none is under way, so hooks do nothing' };
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
      says: 'state.json cannot be written; the journal is the truth, so nothing is lost',
      next: `look at the rights of .stepfast/runs/${run}`,
    });
  else if (isBehind(before)) {
    const how = before === undefined ? 'was missing' : 'was older than the journal';
    checks.push({ what, state: 'note', says: `state.json ${how}, and was written anew` });
  } else {
    const says = `${state.workflow} at '${state.step}', state.json written ${ago(updatedAt, now)}`;
    checks.push({ what, state: 'ok', says });
  }
  checks.push(...checkDelivery(what, state), ...checkReading(what, { definition, state }, project));
  return checks;
}

/** Whether the newest session was told where it stands. */
function checkDelivery(what: string, { briefings, sessions, run }: State): Check[] {
  const newest = Object.entries(sessions)
    .filter(([, { endedAt }]) => endedAt === undefined)
    .sort(([, a], [, b]) => b.startedAt - a.startedAt)[0]?.[0];
  const last = newest === undefined ? undefined : briefings[newest];
  if (!last) return [];
  if (last.proven !== 'none')
    return [{ what, state: 'ok', says: `its last briefing arrived (seen by ${last.proven})` }];
  return [
    {
      what,
      state: 'note',
      says: 'nobody saw its last briefing arrive; it is sent again at the next prompt or tool',
      next: `or tell the agent yourself: stepfast prime --run-id ${run}`,
    },
  ];
}

function checkReading(
  what: string,
  { definition, state }: Pick<View, 'definition' | 'state'>,
  project: LocalRuntime['project'],
): Check[] {
  const wanted = requiredReading(definition, state);
  const unread = wanted.filter((path) => readState(state, path, project) !== 'read');
  if (wanted.length === 0) return [];
  if (unread.length === 0)
    return [{ what, state: 'ok', says: `${count(wanted.length, 'required file')} read` }];
  return [
    {
      what,
      state: 'note',
      says: `not read as they are now: ${unread.join(', ')}`,
      next: 'the agent reads them; briefings name them',
    },
  ];
}

/** Hooks start only where a mark is: they are made again, so that nothing stays asleep. */
async function checkMarks({ engine, project }: LocalRuntime, live: number): Promise<Check[]> {
  const folder = join(project.directory, 'sessions', 'marks');
  const seen = (): string => JSON.stringify([createMarks(project.directory).reasons().sort(), names(folder)]);
  const before = seen();
  await renewMarks(engine, project.directory);
  const what = 'marks';
  if (seen() !== before)
    return [{ what, state: 'note', says: 'were not as the runs ask for them, and were made again' }];
  return live === 0 ? [] : [{ what, state: 'ok', says: 'as the runs ask for them' }];
}

/** Whether hooks came by lately, and what they said. */
export async function checkHooks({ project, engine }: LocalRuntime, now: number): Promise<Check[]> {
  const what = 'hooks';
  const events = hookEvents(project);
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
      says: `${count(errors.length, 'error')} in the last day, the newest in ${newest.event}: ${newest.message}`,
      next: 'stepfast doctor --live',
    });
  if (last > 0) checks.push({ what, state: 'ok', says: `last seen ${ago(last, now)}` });
  else if (live)
    checks.push({
      what,
      state: 'note',
      says: 'a run is under way, and no hook was seen yet',
      next: 'start a new session; it must not be started with --bare. Then: stepfast doctor --live',
    });
  else checks.push({ what, state: 'ok', says: 'none seen yet, and no run needs one' });
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
