import {
  type Definition,
  formatHandle,
  type Output,
  parseHandle,
  type Receipt,
  type State,
  type Status,
} from '../../machine/index.ts';
import { ago, count, printable } from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { evidenceOf, openingOf } from './evidence.ts';
import { phaseLines } from './phases.ts';
import { positionLines } from './position.ts';
import { signsFor } from './symbols.ts';

interface RunView {
  definition: Definition;
  state: State;
  status: Status;
  /** The tree as it is now; undefined where it is unknown. */
  tree: string | undefined;
  worker: boolean;
  /** Names the run in what to type, where several are live. */
  name?: string | undefined;
  logOf?(receipt: Receipt): string | undefined;
  nextSaid?: boolean;
}

const mostDone = 12;

/** A run for whoever looks at it: how far, what is done on what evidence, what is next. */
export function runLines(view: RunView, io: Io): string[] {
  const { definition, state, status, tree } = view;
  const signs = signsFor(io);
  const now = io.now();
  const line = (spans: Span[]): string => renderLine(spans, io.stdout, signs.more);
  const done = doneIn(definition, state);
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
    ...phaseLines(definition, state, signs, io.stdout.columns).map(line),
    ...(shown.length > 0 ? [''] : []),
    ...(done.length > shown.length
      ? [line([['dim', `${signs.more} ${done.length - shown.length} more before, see: stepfast log`]])]
      : []),
    ...shown.flatMap(({ path, output, folded }) => [
      line([
        ['green', `${signs.done} `],
        printable(path).padEnd(width),
        '  ',
        ...(folded ? foldedWords(folded, now) : evidenceOf(output, { definition, tree, now })),
      ]),
      ...(folded || openingOf(output.text) === '' ? [] : [line(['    ', ['dim', openingOf(output.text)]])]),
    ]),
    '',
    ...positionLines(status, io, {
      definition,
      worker: view.worker,
      run: view.name,
      ...(view.logOf ? { logOf: view.logOf } : {}),
      nextSaid: view.nextSaid ?? false,
    }),
  ];
  return lines.filter((text, index) => text !== '' || lines[index - 1] !== '');
}

interface Done {
  path: string;
  /** The last one, where it stands for a whole loop. */
  output: Output;
  folded?: Output[];
}

/** What was completed, oldest first, a finished loop as one; ids may hold dots, so paths are read from the handles. */
function doneIn({ steps }: Definition, state: State): Done[] {
  const current = state.status === 'complete' ? steps.length : steps.findIndex(({ id }) => id === state.step);
  const over = new Set(
    steps.slice(0, Math.max(0, current)).flatMap(({ id, type }) => (type === 'action' ? [] : id)),
  );
  const done: Done[] = [];
  const all = Object.values(state.outputs).sort((one, other) => one.now - other.now);
  for (const output of all) {
    const path = parseHandle(output.at)?.path ?? output.at;
    const step = path.split('/', 1)[0] ?? '';
    if (path === step || !over.has(step)) {
      done.push({ path, output });
      continue;
    }
    const known = done.find((each) => each.path === step && each.folded);
    if (!known) done.push({ path: step, output, folded: [output] });
    else {
      known.output = output;
      known.folded?.push(output);
    }
  }
  return done;
}

/** `6 positions, all verified, 4 min ago`. */
function foldedWords(outputs: readonly Output[], now: number): Span[] {
  const bare = outputs.filter(({ receipts }) => !receipts.some(({ pass }) => pass)).length;
  const proven: Span = bare === 0 ? ['green', 'all verified'] : ['yellow', `${bare} unverified`];
  const age = ago(Math.max(...outputs.map((output) => output.now)), now);
  return [`${count(outputs.length, 'position')}, `, proven, ['dim', `, ${age}`]];
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
