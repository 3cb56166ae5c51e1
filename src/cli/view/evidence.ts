import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { gateExcerpt } from '../../context/index.ts';
import {
  type Definition,
  endedUnproven,
  gateKind,
  type Output,
  parseHandle,
  type Receipt,
  type State,
} from '../../machine/index.ts';
import {
  ago,
  approvedText,
  greenNowText,
  lasting,
  printable,
  redBeforeText,
  redVerb,
  reportedText,
  unprovenText,
} from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { type Symbols, symbolsFor } from './symbols.ts';

interface EvidenceContext {
  definition: Definition;
  /** The hash of the current tree; undefined where it is unknown. */
  tree: string | undefined;
  now: number;
}

/** `npm test passed 4 min ago on this tree`, `unverified`, or `unproven` where `until` never held. */
export function evidenceOf(output: Output, { definition, tree, now }: EvidenceContext): Span[] {
  const passed = output.receipts.filter(({ pass, role }) => pass && role !== 'until');
  const age = ago(output.now, now);
  const approved: Span[] =
    output.reviewed === undefined
      ? []
      : [', ', ['magenta', approvedText(printable(output.reviewed), output.ownWork)]];
  const unproven: Span[] = unprovenSpans(definition, output);
  if (passed.length === 0) {
    const look: Span[] = unproven.length > 0 ? unproven : [['yellow', 'unverified']];
    return [...look, ['dim', `, ${age}`], ...approved];
  }
  const texts = passed.map((receipt) => `${gateText(definition, receipt, output.at)}${changeText(receipt)}`);
  const what = [...new Set(texts)].join(', ');
  const where =
    tree === undefined || output.tree === undefined
      ? ''
      : output.tree === tree
        ? ' on this tree'
        : ' on an older tree';
  const look = where === ' on an older tree' ? 'yellow' : 'green';
  const before: Span[] = unproven.length > 0 ? [...unproven, ', '] : [];
  return [...before, [look, what], ['dim', ` ${age}`], [look, where], ...reportedSpans(passed), ...approved];
}

/** After gates of which an agent's token reported any. */
export const reportedSpans = (receipts: readonly Receipt[]): Span[] =>
  receipts.some(({ reportedBy }) => reportedBy) ? [', ', ['yellow', reportedText]] : [];

function unprovenSpans(definition: Definition, output: Output): Span[] {
  if (!endedUnproven(definition, output)) return [];
  const red = output.receipts.filter(({ pass, role }) => !pass && role === 'until');
  return [['yellow', unprovenText(red.map(({ what }) => printable(what)))]];
}

/** A gate that passed, with its last receipt and the position that it is of. */
interface ProvenGate {
  at: string;
  receipt: Receipt;
}

/** The gates that passed in a run. */
export function proofOf(definition: Definition, { outputs }: State): ProvenGate[] {
  const passed = Object.values(outputs)
    .sort((one, other) => one.now - other.now)
    .flatMap(({ at, receipts }) =>
      receipts.flatMap((receipt) => (receipt.pass && receipt.role !== 'until' ? [{ at, receipt }] : [])),
    );
  const proven = new Map<string, ProvenGate>();
  for (const { at, receipt } of passed) {
    const text = gateText(definition, receipt, at);
    // What it said first, before any work of the run.
    const before = proven.get(text)?.receipt.before ?? receipt.before;
    proven.set(text, { at, receipt: { ...receipt, ...(before && { before }) } });
  }
  return [...proven.values()];
}

/** The evidence for a complete run, with the steps that are not proven; without any, how to get some. */
export function proofLines(
  proof: readonly ProvenGate[],
  { definition, state }: { definition: Definition; state: Pick<State, 'outputs'> },
  worktree: string,
  io: Io,
): string[] {
  const symbols = symbolsFor(io);
  const line = (...spans: Span[]): string => renderLine(spans, io.stdout, symbols.more);
  const unproven = Object.values(state.outputs).flatMap((output) => {
    const spans = unprovenSpans(definition, output);
    const [step = ''] = parseHandle(output.at)?.path.split('/', 1) ?? [];
    return spans.length === 0 ? [] : [line(['yellow', `${symbols.bad} ${printable(step)}: `], ...spans)];
  });
  if (proof.length > 0)
    return [
      ...proof.map(({ at, receipt }) => {
        const took = receipt.ms === undefined ? '' : `  ${lasting(receipt.ms)}`;
        const text = `${gateText(definition, receipt, at)}${changeText(receipt)}`;
        return line(['green', `${symbols.done} ${text}`], ['dim', took], ...reportedSpans([receipt]));
      }),
      ...unproven,
    ];
  const own = existsSync(join(worktree, '.stepfast/workflows/go.yaml'));
  const help =
    definition.name === 'go' && !own
      ? `${commandName()} init detects your test command`
      : `add a gate to '${definition.name}': none has passed in this run`;
  return [
    line(['yellow', 'complete, but unverified: no gate has passed']),
    ...unproven,
    line(['dim', 'next  '], help),
  ];
}

/** ` (red → green)` after a gate with `baseline` that passed. */
export const changeText = ({ before }: Receipt): string =>
  before === undefined ? '' : ` (${greenNowText(before)})`;

/** `npm test passed`, `PLAN.md exists`. `at`: the position of the receipt, where it is known. */
export function gateText(definition: Definition, receipt: Receipt, at?: string): string {
  const what = printable(receipt.what);
  if (receipt.expect && receipt.pass) return `${what} failed`;
  if (receipt.exit !== undefined) return receipt.pass ? `${what} passed` : `${what}: exit ${receipt.exit}`;
  const kind = gateKind(definition, receipt, at);
  if (kind === 'run') return `${what} ${receipt.pass ? 'passed' : redVerb(receipt)}`;
  if (kind === 'read') return `${what} ${receipt.pass ? 'was read' : 'was not read in its current version'}`;
  if (kind === 'condition') return `${what} ${receipt.pass ? 'holds' : 'does not hold'}`;
  return `${what} ${receipt.pass ? 'exists' : 'does not exist'}`;
}

/** A failed gate with the lines of its output that the agent gets, and the file with all of it. */
export function failedGateLines(
  definition: Definition,
  receipt: Receipt,
  symbols: Symbols,
  { at, log }: { at?: string | undefined; log?: string | undefined } = {},
): Span[][] {
  const took = receipt.ms === undefined ? '' : `  ${lasting(receipt.ms)}`;
  const lines = gateExcerpt(receipt.tail ?? '');
  const said = gateText(definition, receipt, at);
  // An output such as `PLAN.md does not exist: write it` replaces the headline that it repeats.
  const [only = '', second] = lines;
  const same = second === undefined && only.startsWith(`${receipt.what} `) && receipt.exit === undefined;
  const shown = same ? [] : lines;
  return [
    [
      ['red', `${symbols.bad} ${same ? only : said}`],
      ['dim', took],
      ...(receipt.before === undefined
        ? []
        : [['yellow', `  ${redBeforeText(receipt.before)}`] satisfies Span]),
    ],
    ...shown.map((line): Span[] => ['    ', ['dim', printable(line)]]),
    ...(log === undefined ? [] : [['    ', ['dim', 'full output: '], ['bold', log]] satisfies Span[]]),
  ];
}
