import { styleText } from 'node:util';
import { watchTools } from '../../hooks/index.ts';
import { hosts } from '../../hosts/index.ts';
import { budgetUse, endedUnproven, isLow, type State, usedUp } from '../../machine/index.ts';
import { ago, budgetText, columnsOf, printable, truncate } from '../../messages/index.ts';
import {
  createBindings,
  createEndNotices,
  createHolds,
  type Host,
  hasHold,
  noteUsage,
  type StatusLineInput,
} from '../../runtime/index.ts';
import { createMarks, findProject, type Project, stateDirectory } from '../../workspace/index.ts';
import { type LastGate, lastGate, type RunSummary, readRun } from './run-files.ts';

export interface LineContext {
  env: Readonly<Record<string, string | undefined>>;
  now: number;
}

type Look = Parameters<typeof styleText>[0];
type Part = readonly [look: Look, text: string];

const widestGate = 28;
const full = 80;
const filling = 60;

/** One line about the session's run and the hold of its worktree; empty without either. Never throws. */
export async function statusline(stdin: string, context: LineContext): Promise<string> {
  try {
    const payload: unknown = JSON.parse(stdin);
    for (const host of hosts) {
      const input = host.parseStatusLine?.(payload);
      if (input) return await lineFor(host, input, context);
    }
    return '';
  } catch {
    // A status line never shows an error.
    return '';
  }
}

async function lineFor(
  host: Host,
  { session, cwd, pressure, cost }: StatusLineInput,
  { env, now }: LineContext,
): Promise<string> {
  const key = { host: host.name, session };
  const { project: variable } = host.variables;
  const opened = variable === undefined ? undefined : env[variable];
  const project = [cwd, ...(opened ? [opened] : [])]
    .map((directory) => findProject(directory))
    .find(
      ({ directory }) =>
        createMarks(directory).reasons().length > 0 ||
        createEndNotices(directory).recent(key, now) !== undefined,
    );
  if (!project) return '';
  const binding = await createBindings(project.directory).get(key);
  // The next tool tells the agent, whichever it is.
  const percent = pressure === undefined ? undefined : Math.round(pressure);
  if (binding && noteUsage(project.directory, key, { percent, cost })) watchTools(project, key);
  const run = binding?.run ?? createEndNotices(project.directory).recent(key, now);
  const shown = run === undefined ? undefined : readRun(project, run);
  const about =
    run === undefined || !shown
      ? []
      : [...runParts(shown, session), ...gateParts(lastGate(project, run), now)];
  const known = [...about, ...holdParts(project, env, now)];
  if (known.length === 0) return '';
  const parts = [...known, ...pressureParts(pressure)];
  const colour = !env.NO_COLOR;
  const [first, ...rest] = parts.map(([look, text]) => styled(look, printable(text), colour));
  return `${[first, ...rest].join(styled('dim', ' · ', colour))}\n`;
}

function runParts({ phase, state, definition }: RunSummary, session: string): Part[] {
  const cursors = Object.values(state.cursors);
  const short = columnsOf(phase.name) <= widestGate || state.adopted ? phase.name : state.step;
  const name = `${state.workflow} ${phase.current}/${phase.total} ${short}${taskOf(state, session)}`;
  const waiting = cursors.find((cursor) => cursor.waiting)?.waiting;
  const over = { complete: 'green', failed: 'red', cancelled: 'red' } as const;
  const unproven = definition && Object.values(state.outputs).some((each) => endedUnproven(definition, each));
  if (state.status === 'complete' && unproven) return [['yellow', `${state.workflow} complete, unproven`]];
  if (state.status !== 'running' && state.status !== 'waiting')
    return [
      [over[state.status], `${state.status === 'complete' ? '✓' : '✗'} ${state.workflow} ${state.status}`],
    ];
  const where: Part = [['bold', 'cyan'], name];
  if (usedUp(state)) return [where, ['yellow', 'budget used up']];
  if (waiting) return [where, ['yellow', waitingWords(waiting)]];
  if (cursors.some(({ checking }) => checking)) return [where, ['cyan', 'gates are running']];
  const action = cursors.find(({ boundary }) => boundary?.state === 'requested')?.boundary?.action;
  const low = definition && budgetUse(definition, state).find(isLow);
  return [
    where,
    ...(action === undefined ? [] : [['yellow', `waiting for /${action}`] as const]),
    ...(low ? [['yellow', budgetText(low)] as const] : []),
  ];
}

/** The session's task in a loop, and how many of the loop's tasks have ended. */
function taskOf({ cursors, tasks }: State, session: string): string {
  const mine = Object.values(cursors).filter(({ lease }) => lease === undefined || lease.holder === session);
  const [only, second] = mine.filter(({ task }) => task !== undefined);
  const list = only && !second ? tasks[only.step] : undefined;
  if (!only?.task || !list) return '';
  const ended = list.order.filter((id) => list.byId[id]?.end !== undefined).length;
  return `, task ${truncate(only.task, widestGate, columnsOf)} (${ended} of ${list.order.length} done)`;
}

function holdParts(project: Project, env: LineContext['env'], now: number): Part[] {
  const hold = hasHold(createMarks(project.directory))
    ? createHolds(project, stateDirectory({ env })).get(now)
    : undefined;
  return hold ? [['yellow', `hold ${truncate(hold.command, widestGate, columnsOf)}`]] : [];
}

type Waiting = NonNullable<State['cursors'][string]['waiting']>;

const waitingWords = (waiting: Waiting): string =>
  ({ review: 'waiting for review', question: 'waiting for an answer', blocked: 'blocked' })[waiting.kind];

function gateParts(gate: LastGate | undefined, now: number): Part[] {
  if (!gate) return [];
  const { pass, what, at } = gate;
  const name = truncate(printable(what), widestGate, columnsOf);
  return [[pass ? 'green' : 'red', `${pass ? '✓' : '✗'} ${name} ${ago(at, now)}`]];
}

function pressureParts(pressure: number | undefined): Part[] {
  if (pressure === undefined) return [];
  const look: Look = pressure >= full ? ['bold', 'red'] : pressure >= filling ? 'yellow' : 'dim';
  return [[look, `ctx ${Math.round(pressure)} %`]];
}

const styled = (look: Look, text: string, colour: boolean): string =>
  colour ? styleText(look, text, { validateStream: false }) : text;
