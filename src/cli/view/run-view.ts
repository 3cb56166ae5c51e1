import {
  type Definition,
  formatHandle,
  type Output,
  parseHandle,
  type State,
  type Status,
} from '../../machine/index.ts';
import { ago } from '../age.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printable } from '../text.ts';
import { evidenceOf, openingOf } from './evidence.ts';
import { phaseLine } from './phases.ts';
import { positionLines } from './position.ts';
import { signsFor } from './signs.ts';

interface RunView {
  definition: Definition;
  state: State;
  status: Status;
  /** The tree as it is now; undefined where it is unknown. */
  tree: string | undefined;
  worker: boolean;
  /** Names the run in what to type, where several are live. */
  name?: string | undefined;
}

const mostDone = 12;

/** A run for whoever looks at it: how far, what is done on what evidence, what is next. */
export function runLines(view: RunView, io: Io): string[] {
  const { definition, state, status, tree } = view;
  const signs = signsFor(io);
  const now = io.now();
  const line = (spans: Span[]): string => renderLine(spans, io.stdout, signs.more);
  const done = doneIn(state);
  const shown = done.slice(-mostDone);
  const width = Math.max(0, ...shown.map(({ path }) => path.length));
  const lines = [
    line([
      ['bold', state.run],
      '  ',
      [statusLook(state.status), state.status],
      ['dim', `  ${ago(state.updatedAt, now)}`],
    ]),
    ...(state.summary === undefined ? [] : [line([printable(state.summary)])]),
    '',
    line(phaseLine(definition, state, signs)),
    ...(shown.length > 0 ? [''] : []),
    ...(done.length > shown.length
      ? [line([['dim', `${signs.more} ${done.length - shown.length} more before, see: stepfast log`]])]
      : []),
    ...shown.flatMap(({ path, output }) => [
      line([
        ['green', `${signs.done} `],
        printable(path).padEnd(width),
        '  ',
        ...evidenceOf(output, { definition, tree, now }),
      ]),
      ...(openingOf(output.text) === '' ? [] : [line(['    ', ['dim', openingOf(output.text)]])]),
    ]),
    '',
    ...positionLines(status, io, { definition, worker: view.worker, run: view.name }),
  ];
  return lines.filter((text, index) => text !== '' || lines[index - 1] !== '');
}

/** What was completed, oldest first; ids may hold dots, so paths are read from the handles. */
function doneIn({ outputs }: State): { path: string; output: Output }[] {
  return Object.values(outputs)
    .map((output) => ({ path: parseHandle(output.at)?.path ?? output.at, output }))
    .sort((one, other) => one.output.now - other.output.now);
}

export const statusLook = (status: State['status']): 'green' | 'yellow' | 'red' | 'cyan' =>
  status === 'complete' ? 'green' : status === 'waiting' ? 'yellow' : status === 'running' ? 'cyan' : 'red';

/** In a table: `build/task-2/verify`, `plan waits: review`, `3 positions`. */
export function standsAt(state: State): string {
  if (state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled')
    return state.status;
  const cursors = Object.values(state.cursors);
  const [only, second] = cursors;
  if (state.budget.exhausted !== undefined) return `${state.step} waits: budget`;
  if (!only) return state.blocked === undefined ? state.step : `${state.step} is stuck`;
  if (second) return `${state.step}, ${cursors.length} positions`;
  if (only.checking) return `${only.path} is checked`;
  return only.waiting ? `${only.path} waits: ${only.waiting.kind}` : only.path;
}

/** The handles that are open, for completion and lists. */
export const handlesOf = (state: State): string[] =>
  Object.values(state.cursors).map(({ path, visit }) => formatHandle(state.run, path, visit));
