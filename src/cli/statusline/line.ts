import { styleText } from 'node:util';
import type { State } from '../../machine/index.ts';
import { ago, columnsOf, printable, truncate } from '../../messages/index.ts';
import { createBindings, liveRuns, notePressure } from '../../runtime/index.ts';
import {
  createMarks,
  findProject,
  markedRuns,
  type Project,
  portable,
  sameWorktree,
} from '../../workspace/index.ts';
import { type LastGate, lastGate, readRun, type Shown } from './run-files.ts';

export interface Around {
  env: Readonly<Record<string, string | undefined>>;
  now: number;
}

/** What Claude Code tells of a session; everything may be missing. */
interface Payload {
  session: string;
  cwd: string;
  /** In percent. */
  pressure: number | undefined;
}

type Look = Parameters<typeof styleText>[0];
type Part = readonly [look: Look, text: string];

const host = 'claude-code';
const widestGate = 28;
const full = 80;
const filling = 60;

/** One line about the session's run, or nothing where there is none. Never throws. */
export async function statusline(stdin: string, around: Around): Promise<string> {
  try {
    const payload = parse(stdin);
    return payload ? await lineFor(payload, around) : '';
  } catch {
    // A line at the bottom of the screen is no place for errors.
    return '';
  }
}

async function lineFor({ session, cwd, pressure }: Payload, { env, now }: Around): Promise<string> {
  const project = [cwd, env.CLAUDE_PROJECT_DIR ?? '']
    .filter((directory) => directory !== '')
    .map((directory) => findProject(directory))
    .find(({ directory }) => markedRuns(createMarks(directory)).length > 0);
  if (!project) return '';
  const key = { host, session };
  const binding = await createBindings(project.directory).get(key);
  if (binding && pressure !== undefined) notePressure(project.directory, key, Math.round(pressure));
  const run = binding?.run ?? onlyRunHere(project);
  const shown = run === undefined ? undefined : readRun(project, run);
  if (run === undefined || !shown) return '';
  const parts = [...runParts(shown), ...gateParts(lastGate(project, run), now), ...pressureParts(pressure)];
  const colour = !env.NO_COLOR;
  const [first, ...rest] = parts.map(([look, text]) => styled(look, printable(text), colour));
  return `${[first, ...rest].join(styled('dim', ' · ', colour))}\n`;
}

function runParts({ phase, state }: Shown): Part[] {
  const name = `${state.workflow} ${phase.current}/${phase.total} ${phase.name}`;
  const cursors = Object.values(state.cursors);
  const waiting = cursors.find((cursor) => cursor.waiting)?.waiting;
  const over = { complete: 'green', failed: 'red', cancelled: 'red' } as const;
  if (state.status !== 'running' && state.status !== 'waiting')
    return [[over[state.status], `${state.workflow} ${state.status}`]];
  const where: Part = [['bold', 'cyan'], name];
  if (state.budget.exhausted !== undefined) return [where, ['yellow', 'budget used up']];
  if (waiting) return [where, ['yellow', waitingWords(waiting)]];
  if (cursors.some(({ checking }) => checking)) return [where, ['cyan', 'gates are running']];
  const action = cursors.find(({ boundary }) => boundary?.state === 'requested')?.boundary?.action;
  return action === undefined ? [where] : [where, ['yellow', `wants /${action}`]];
}

type Waiting = NonNullable<State['cursors'][string]['waiting']>;

const waitingWords = (waiting: Waiting): string =>
  ({ review: 'waits for a review', question: 'waits for an answer', blocked: 'is stuck' })[waiting.kind];

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

/** A session that has not called yet is told of the only run here, so the line is about that. */
function onlyRunHere(project: Project): string | undefined {
  const here = portable(project.worktree, project.root);
  const states = markedRuns(createMarks(project.directory)).flatMap((run) => {
    const state = readRun(project, run)?.state;
    return state ? [{ run, state }] : [];
  });
  const [only, second] = liveRuns(states).filter(
    ({ worktrees }) => worktrees.length === 0 || worktrees.some((each) => sameWorktree(each, here)),
  );
  return second ? undefined : only?.run;
}

function parse(stdin: string): Payload | undefined {
  const read = partOf(JSON.parse(stdin));
  const { session_id: session, cwd: directory } = read;
  const { current_dir: current } = partOf(read.workspace);
  const { used_percentage: used } = partOf(read.context_window);
  const cwd = typeof current === 'string' && current !== '' ? current : directory;
  if (typeof session !== 'string' || session === '' || typeof cwd !== 'string') return undefined;
  const known = typeof used === 'number' && used >= 0 && used <= 100;
  return { session, cwd, pressure: known ? used : undefined };
}

const partOf = (value: unknown): Record<string, unknown> =>
  // Every part is looked at by whoever reads it.
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const styled = (look: Look, text: string, colour: boolean): string =>
  colour ? styleText(look, text, { validateStream: false }) : text;
