import { commandName } from '../../command-name.ts';
import { budgetUse, type Cursor, formatHandle, type State, titledPath, usedUp } from '../../machine/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import {
  ago,
  budgetText,
  exhaustedText,
  printable,
  reportedText,
  usedUpText,
  wrap,
} from '../../messages/index.ts';
import type { LocalRuntime, Refused } from '../../runtime/index.ts';
import { type Io, wrapWidth } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { suffixOf } from '../run-name.ts';
import { changeText, failedGateLines, gateText, reportedSpans } from '../view/evidence.ts';
import { symbolsFor } from '../view/symbols.ts';

type View = NonNullable<Awaited<ReturnType<LocalRuntime['engine']['view']>>>;

/** The subject of a verdict: a waiting position, or the whole run (exhausted budget, failed loop). */
export interface Decidable {
  view: View;
  cursor?: Cursor;
  at?: string;
}

/** Finds what waits for a verdict. */
export async function decidable(
  runtime: LocalRuntime,
  wanted: { run?: string | undefined; at?: string | undefined },
): Promise<Decidable | RefusalText | Refused> {
  const found = await runtime.chooseRun(wanted);
  if ('code' in found) return found;
  const view = await runtime.engine.view(found.run);
  if (!view) return nothingWaits(found.run);
  const { state } = view;
  if (usedUp(state) || state.blocked !== undefined) return { view };
  const waiting = Object.values(state.cursors).filter(
    (cursor) => cursor.waiting && cursor.waiting.kind !== 'question' && isMeant(state, cursor, wanted.at),
  );
  const [only, second] = waiting;
  if (!only) return nothingWaits(found.run);
  const handles = waiting.map((cursor) => handleOf(state, cursor));
  if (second) {
    const message = `${waiting.length} positions wait for a verdict.`;
    return { code: 'at_required', message, next: `Choose one with --at: ${handles.join(', ')}` };
  }
  return { view, cursor: only, at: handles[0] ?? '' };
}

const isMeant = (state: State, cursor: Cursor, at: string | undefined): boolean =>
  at === undefined || handleOf(state, cursor) === at;

export const handleOf = (state: State, { path, visit }: Cursor): string =>
  formatHandle(state.run, path, visit);

const nothingWaits = (run: string): RefusalText => ({
  code: 'not_waiting',
  message: `No position of ${run} waits for a verdict.`,
  next: `See: ${commandName()} status ${suffixOf(run)}`,
});

const mostLines = 40;

/** Shows the position, its output and its evidence before the person decides. */
export async function showDecision(
  { view, cursor }: Decidable,
  runtime: LocalRuntime,
  io: Io,
): Promise<void> {
  const { state, definition } = view;
  const symbols = symbolsFor(io);
  const line = (...spans: Span[]): void => io.stderr.write(`${renderLine(spans, io.stderr, symbols.more)}\n`);
  line(['bold', state.run], ...(state.summary === undefined ? [] : ['  ', printable(state.summary)]));
  line(['dim', 'position  '], ['bold', printable(titledPath(definition, cursor?.path ?? state.step))]);
  const over = usedUp(state);
  if (over) {
    line(['dim', 'budget    '], ['yellow', usedUpText({ ...over, step: state.step })]);
    for (const use of budgetUse(definition, state)) line(['dim', '          '], budgetText(use));
  }
  if (state.blocked !== undefined) line(['dim', 'blocked   '], ['yellow', printable(state.blocked)]);
  if (!cursor) return;
  const { waiting } = cursor;
  const at = formatHandle(state.run, cursor.path, cursor.visit);
  if (waiting?.kind === 'review' && waiting.exhausted)
    line(['dim', 'until     '], ['yellow', printable(exhaustedText(cursor.step))]);
  if (waiting?.kind === 'blocked') line(['dim', 'blocked   '], ['yellow', printable(waiting.reason)]);
  const author = waiting?.kind === 'review' ? waiting.author?.subject : undefined;
  const what = author === undefined ? '' : ` of ${printable(author)}'s work`;
  if (waiting) line(['dim', 'waits     '], `${waiting.kind}${what}, ${ago(waiting.since, io.now())}`);
  for (const receipt of cursor.receipts ?? []) {
    if (receipt.role === 'until' && receipt.pass && !receipt.reportedBy) continue;
    if (receipt.pass)
      line(
        ['dim', 'evidence  '],
        ['green', `${symbols.done} ${gateText(definition, receipt, at)}${changeText(receipt)}`],
        ...reportedSpans([receipt]),
      );
    else for (const spans of failedGateLines(definition, receipt, symbols, { at })) line(...spans);
  }
  if (cursor.output !== undefined && !cursor.receipts?.some(({ pass }) => pass))
    line(['dim', 'evidence  '], ['yellow', 'none: the output is unverified']);
  for (const [loop, { order, reportedBy }] of Object.entries(state.tasks))
    if (reportedBy)
      line(['dim', 'tasks     '], `${order.length} of ${printable(loop)}`, ['yellow', `, ${reportedText}`]);
  showTasks(view, cursor, line);
  if (cursor.output === undefined) return;
  const { output } = cursor;
  // Only long texts are stored in files.
  const file =
    typeof output === 'string' ? '' : `: .stepfast/runs/${state.run}/outputs/${output.digest.slice(7)}.txt`;
  showText(await runtime.engine.text(state.run, output), file, line, io);
}

/** The tasks of later loops: approving a plan approves its tasks. */
function showTasks({ definition, state }: View, { step }: Cursor, line: (...spans: Span[]) => void): void {
  const later = definition.steps.slice(definition.steps.findIndex(({ id }) => id === step) + 1);
  for (const each of later) {
    const list = each.type === 'loop' ? state.tasks[each.loop ?? each.id] : undefined;
    if (!list) continue;
    line(['dim', 'tasks     '], `${list.order.length} for ${each.id}`);
    for (const id of list.order.slice(0, mostLines))
      line('          ', ['bold', id], `  ${list.byId[id]?.title ?? ''}`);
  }
}

function showText(text: string, file: string, line: (...spans: Span[]) => void, io: Io): void {
  const lines = text
    .trim()
    .split('\n')
    .flatMap((each) => (each.trim() === '' ? [''] : wrap(printable(each), wrapWidth(io.stderr) - 4)));
  line();
  for (const each of lines.slice(0, mostLines)) line('  ', ['dim', `${io.unicode ? '│' : '|'} `], each);
  if (lines.length > mostLines) line('  ', ['dim', `and ${lines.length - mostLines} more lines${file}`]);
}
