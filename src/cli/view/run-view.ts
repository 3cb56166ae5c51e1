import { commandName } from '../../command-name.ts';
import {
  budgetUse,
  type Definition,
  ended,
  endedUnproven,
  formatHandle,
  isLow,
  type Output,
  parseHandle,
  type Receipt,
  type State,
  type Status,
  titledPath,
} from '../../machine/index.ts';
import {
  type AgentSession,
  ago,
  budgetText,
  count,
  openingOf,
  printable,
  unprovenText,
} from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { driverLines } from './driver-lines.ts';
import { evidenceOf } from './evidence.ts';
import { phaseLines } from './phases.ts';
import { positionLines } from './position.ts';
import { symbolsFor } from './symbols.ts';

interface RunView {
  definition: Definition;
  state: State;
  status: Status;
  /** The tree as it is now; undefined where it is unknown. */
  tree: string | undefined;
  worker: boolean;
  /** The run's name in commands, where several runs are live. */
  name?: string | undefined;
  logOf?: (receipt: Receipt) => string | undefined;
  noNext?: boolean;
  agent?: AgentSession | undefined;
  contextUsed?: number | undefined;
}

const mostDone = 12;

/** The progress of a run, the evidence for completed work and the next action. */
export function runLines(view: RunView, io: Io): string[] {
  const { definition, state, status, tree } = view;
  const symbols = symbolsFor(io);
  const now = io.now();
  const line = (spans: Span[]): string => renderLine(spans, io.stdout, symbols.more);
  const done = doneIn(definition, state);
  const shown = done.slice(-mostDone).map((each) => ({ ...each, path: titledPath(definition, each.path) }));
  const width = Math.max(0, ...shown.map(({ path }) => path.length));
  const lines = [
    line([
      ['bold', state.run],
      '  ',
      [statusColor(state.status), state.status],
      ['dim', `  ${ago(state.updatedAt, now)}`],
    ]),
    ...(state.summary === undefined ? [] : [line([printable(state.summary)])]),
    '',
    ...phaseLines(definition, state, symbols, io.stdout.columns).map(line),
    ...(ended(state) ? [] : budgetUse(definition, state)).map((use) =>
      line([
        ['dim', 'budget  '],
        [isLow(use) ? 'yellow' : 'dim', budgetText(use)],
      ]),
    ),
    ...driverLines(state, now).map(line),
    ...(shown.length > 0 ? [''] : []),
    ...(done.length > shown.length
      ? [line([['dim', `${symbols.more} ${done.length - shown.length} earlier, see: ${commandName()} log`]])]
      : []),
    ...shown.flatMap(({ path, output, folded }) => [
      line([
        isUnproven(definition, folded ?? [output])
          ? ['yellow', `${symbols.bad} `]
          : ['green', `${symbols.done} `],
        printable(path).padEnd(width),
        '  ',
        ...(folded ? foldedWords(definition, folded, now) : evidenceOf(output, { definition, tree, now })),
      ]),
      ...(folded || openingOf(output.text) === '' ? [] : [line(['    ', ['dim', openingOf(output.text)]])]),
    ]),
    '',
    ...positionLines(status, io, {
      definition,
      worker: view.worker,
      run: view.name,
      logOf: view.logOf,
      agent: view.agent,
      contextUsed: view.contextUsed,
      noNext: view.noNext ?? false,
    }),
  ];
  return lines.filter((text, index) => text !== '' || lines[index - 1] !== '');
}

interface Done {
  path: string;
  /** The last one of a loop. */
  output: Output;
  folded?: Output[];
}

/** Completed positions, oldest first, with a finished loop as one. Paths come from the handles, because ids may contain dots. */
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

const isUnproven = (definition: Definition, outputs: readonly Output[]): boolean =>
  outputs.some((output) => endedUnproven(definition, output));

/** `6 positions, all verified, 4 min ago`. */
function foldedWords(definition: Definition, outputs: readonly Output[], now: number): Span[] {
  const bare = outputs.filter(({ receipts }) => !receipts.some(({ pass }) => pass)).length;
  const last = outputs.find((output) => endedUnproven(definition, output));
  const red = last?.receipts.filter(({ pass, role }) => !pass && role === 'until') ?? [];
  const proven: Span = last
    ? ['yellow', unprovenText(red.map(({ what }) => printable(what)))]
    : bare === 0
      ? ['green', 'all verified']
      : ['yellow', `${bare} unverified`];
  const age = ago(Math.max(...outputs.map((output) => output.now)), now);
  return [`${count(outputs.length, 'position')}, `, proven, ['dim', `, ${age}`]];
}

export const statusColor = (status: State['status']): 'green' | 'yellow' | 'red' | 'cyan' =>
  status === 'complete' ? 'green' : status === 'waiting' ? 'yellow' : status === 'running' ? 'cyan' : 'red';

/** The handles of the open positions. */
export const handlesOf = (state: State): string[] =>
  Object.values(state.cursors).map(({ path, visit }) => formatHandle(state.run, path, visit));
