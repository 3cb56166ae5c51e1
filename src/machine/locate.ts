import type { Definition } from './definition.ts';
import { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Cursor, opening, type State, sameText, type Text } from './state.ts';
import { parallelOf, readyTasks, stepOf, taskListOf, tasksIn } from './steps.ts';

const replayWindowMs = 60_000;

/** An open position, a handle that was accepted before (`replay`), or a refusal. */
export type Located = { cursor: Cursor } | { replay: true } | { refusal: Refusal };

export const openHandles = (state: State): string[] =>
  Object.values(state.cursors).map((cursor) => formatHandle(state.run, cursor.path, cursor.visit));

export function locate(definition: Definition, state: State, at: string | undefined): Located {
  return at === undefined ? locateOnly(definition, state) : locateHandle(definition, state, at);
}

function locateHandle(definition: Definition, state: State, at: string): Located {
  const parsed = parseHandle(at);
  const [only] = openHandles(state);
  const next = whereNow(state);
  if (!parsed) {
    return { refusal: refuse('bad_handle', `'${opening(at).slice(0, 80)}' is not a handle`, next, only) };
  }
  if (parsed.suffix !== suffixOf(state.run)) {
    return { refusal: refuse('wrong_run', `${at} belongs to another run, not to ${state.run}`, next, only) };
  }
  for (const cursor of Object.values(state.cursors)) {
    if (cursor.path === parsed.path && cursor.visit === parsed.visit) return { cursor };
    if (cursor.failedAt === at) return { replay: true };
  }
  if (own(state.outputs, outputKey(parsed.path))?.at === at) return { replay: true };
  const step = definition.steps.find((candidate) => candidate.id === parsed.path.split('/', 1)[0]);
  if (step && tasksIn(taskListOf(state, step)).some((task) => task.endedAt === at)) return { replay: true };
  return { refusal: refuse('stale_handle', `${at} is no longer open`, next, only) };
}

function locateOnly(definition: Definition, state: State): Located {
  const only = onlyCursor(state);
  if (only) return { cursor: only };
  const count = Object.keys(state.cursors).length;
  if (count > 0) {
    const message = `${count} positions are open: say which with \`at\``;
    return { refusal: refuse('at_required', message, `one of ${openHandles(state).join(', ')}`) };
  }
  const step = stepOf(definition, state.step);
  const ready = readyTasks(state, step).map((task) => task.id);
  const message = `no task of '${step.id}' is held`;
  const next = ready.length > 0 ? `claim one of ${ready.slice(0, 5).join(', ')}` : whereNow(state);
  return { refusal: refuse('claim_required', message, next) };
}

function whereNow(state: State): string {
  const open = openHandles(state);
  if (open.length > 0) return `go on at ${open.slice(0, 5).join(', ')}`;
  return `ask for the status of ${state.run}`;
}

/** What a call without a handle means: the only open position. */
export function onlyCursor(state: State): Cursor | undefined {
  const cursors = Object.values(state.cursors);
  return cursors.length === 1 ? cursors[0] : undefined;
}

/** Without a handle, the same output again within a minute is the same call again. */
export function repeatsLast(state: State, output: Text, now: number): boolean {
  if (!state.last || now - state.last.now > replayWindowMs) return false;
  const text = own(state.outputs, state.last.key)?.text;
  return text !== undefined && sameText(text, output);
}

/** How many agents may still take a task. */
export function freePlaces(definition: Definition, state: State): number {
  return parallelOf(stepOf(definition, state.step)) - Object.keys(state.cursors).length;
}
