import { type Definition, type Event, parseHandle, type Receipt, type State } from '../../machine/index.ts';
import {
  count,
  exhaustedText,
  greenNowText,
  lookedAtText,
  printable,
  refusalText,
  shellVoice,
  unitText,
  untilRedText,
  worktreeFacts,
} from '../../messages/index.ts';
import type { Move } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';

interface Counts {
  positions: number;
  boundaries: number;
  gates: number;
  reviews: number;
  refusals: number;
}

interface Symbols {
  ok: string;
  bad: string;
  here: string;
  note: string;
}

/** Prints each move; call `summary` at the end. */
export function createPrinter(io: Io, options: { instructions: boolean }) {
  const counts: Counts = { positions: 0, boundaries: 0, gates: 0, reviews: 0, refusals: 0 };
  const symbols: Symbols = io.unicode
    ? { ok: '✓', bad: '✗', here: '●', note: '·' }
    : { ok: 'ok', bad: 'no', here: '*', note: '-' };
  const line = (...spans: Span[]): void => io.stdout.write(`${renderLine(spans, io.stdout)}\n`);

  return {
    heading(definition: Definition): void {
      line(['bold', printable(definition.name)], '  ', ['dim', printable(definition.description).trim()]);
      for (const fact of worktreeFacts(definition)) line('  ', ['dim', printable(fact)]);
    },
    print({ command, response, notifications }: Move): void {
      const { reply, events, state } = response;
      for (const event of events) {
        const spans = describe(event, state, symbols, counts);
        for (const one of spans) line(...one);
      }
      for (const { event, kind } of notifications)
        line('    ', ['cyan', `${symbols.note} notifies`], ` ${event}: ${kind}`);
      if ('code' in reply) {
        counts.refusals += 1;
        line('    ', ['red', `${symbols.bad} refused`], ` ${command.type} ${symbols.note} `, [
          'yellow',
          reply.code,
        ]);
        const refusal = refusalText(reply, shellVoice());
        line('      ', ['dim', printable(`${refusal.message} Next: ${refusal.next}`)]);
        return;
      }
      if (reply.replayed) line('    ', ['cyan', `${symbols.note} replayed`], ` ${command.type}, no change`);
      const opened = events.some(
        (event) =>
          event.type === 'position.entered' ||
          event.type === 'boundary.released' ||
          (event.type === 'gates.finished' && isBaseline(event)),
      );
      if (!opened || reply.instructions === undefined) return;
      const lines = reply.instructions.split('\n').filter((text) => text.trim() !== '');
      for (const text of options.instructions ? lines : lines.slice(0, 1))
        line('    ', ['dim', printable(text)]);
    },
    summary(state: State | undefined): void {
      const status = state?.status ?? 'not started';
      const good = status === 'complete';
      const parts = [
        count(counts.positions, 'position'),
        count(counts.boundaries, 'context action'),
        count(counts.gates, 'gate'),
        count(counts.reviews, 'verdict'),
        count(counts.refusals, 'refusal'),
      ];
      line();
      line(
        [good ? 'green' : 'yellow', `${good ? symbols.ok : symbols.note} ${status}`],
        `  ${parts.join(', ')}`,
      );
      if (state?.reason !== undefined) line('  ', ['dim', printable(state.reason)]);
    },
  };
}

function describe(event: Event, state: State | null, symbols: Symbols, counts: Counts): Span[][] {
  const { ok, bad, here, note } = symbols;
  switch (event.type) {
    case 'step.skipped':
      return [[], [['dim', `${here} ${printable(event.step)} skipped`], ` ${lookedAtText(event.values)}`]];
    case 'cleanup.started':
      return [[], [['bold', `${here} finally`]]];
    case 'cleanup.finished':
      return [['    ', ['green', `${ok} ${printable(event.step)}`]]];
    case 'position.skipped':
      return [['    ', ['dim', `${note} skipped`], ` ${lookedAtText(event.values)}`]];
    case 'position.entered': {
      // A step that is skipped is not entered.
      if (event.preparing && event.preparing !== 'baseline' && event.task === undefined) return [];
      counts.positions += 1;
      const { step, task, subStep, iteration, visit, why } = event;
      const path = [step, task ?? iteration, subStep].filter((part) => part !== undefined).join('/');
      const again = why === 'next' || why === 'claim' ? '' : `  ${why}`;
      const holder = event.lease ? `  held by ${event.lease.holder}` : '';
      return [
        [],
        [
          ['bold', `${here} ${printable(path)}`],
          ['dim', `#${visit}`],
          ['yellow', again],
          ['dim', holder],
        ],
      ];
    }
    case 'boundary.requested':
      counts.boundaries += 1;
      return [['    ', ['cyan', `/${actionAt(state, event.at)}`], ` requested (${event.policy})`]];
    case 'boundary.reset':
      return [['    ', ['cyan', `${ok} ${event.saw}`], ` observed by ${event.by}`]];
    case 'boundary.released':
      return event.how === 'skipped' ? [['    ', ['yellow', `${note} context action skipped`]]] : [];
    case 'gates.finished':
      counts.gates += event.receipts.length;
      return [
        ...event.receipts.map((receipt) => gateLine(receipt, symbols)),
        ...(event.pass || isBaseline(event)
          ? []
          : [['    ', ['yellow', `${note} reopened`]] satisfies Span[]]),
      ];
    case 'gates.interrupted':
      return [['    ', ['yellow', `${note} gates interrupted`], ` (${event.why})`]];
    case 'review.requested':
      return [
        [
          '    ',
          ['magenta', `${note} review`],
          ` by ${event.by === 'human' ? 'a person' : printable(event.by)}`,
          ['yellow', event.exhausted ? `: ${exhaustedText(stepIn(event.at))}` : ''],
        ],
      ];
    case 'review.decided': {
      counts.reviews += 1;
      const feedback = event.feedback === undefined ? '' : `: ${printable(event.feedback)}`;
      return [['    ', ['magenta', `${event.verdict === 'approve' ? ok : note} ${event.verdict}`], feedback]];
    }
    case 'run.pivoted':
      return [['    ', ['magenta', `${note} pivot`], ` to ${printable(event.to)}`]];
    case 'run.rewound':
      return [['    ', ['yellow', `${note} rewound`], ` to ${printable(event.to)}`]];
    case 'position.failed':
      return [['    ', ['red', `${bad} failed`], `: ${printable(event.reason)}`]];
    case 'position.blocked':
      return [['    ', ['red', `${bad} blocked`], ', waiting for a person']];
    case 'run.blocked':
      return [['    ', ['red', `${bad} blocked`], `: ${printable(event.reason)}`]];
    case 'position.completed':
      return [
        [
          '    ',
          ['green', `${ok} done`],
          event.receipts.some(({ pass }) => pass) ? '' : '  unverified',
          ['yellow', untilIn(event.receipts)],
        ],
      ];
    case 'tasks.set':
      return [
        [
          '    ',
          ['blue', `${note} tasks`],
          ` ${printable(event.tasks.map(({ id }) => id).join(', ')) || 'none'}`,
        ],
      ];
    case 'task.ended':
      return event.end === 'done'
        ? []
        : [['    ', ['yellow', `${note} ${printable(event.task)}`], ` ${event.end}`]];
    case 'budget.exhausted':
      return [
        [
          '    ',
          ['yellow', `${note} budget`],
          `${event.of === 'run' ? ' of the run' : ''}: ${unitText(event.what)} used up`,
        ],
      ];
    case 'budget.extended':
      counts.reviews += 1;
      return [['    ', ['magenta', `${ok} budget`], ' raised']];
    case 'question.asked':
      return [['    ', ['magenta', '? question'], ` ${printable(event.text)}`]];
    case 'question.answered':
      return [['    ', ['magenta', `${ok} answer`], ` ${printable(event.answer)}`]];
    default:
      return [];
  }
}

const isBaseline = ({ receipts }: Extract<Event, { type: 'gates.finished' }>): boolean =>
  receipts.some(({ role }) => role === 'baseline');

function untilIn(receipts: readonly Receipt[]): string {
  const red = receipts
    .filter(({ pass, role }) => !pass && role === 'until')
    .map(({ what }) => printable(what));
  return red.length === 0 ? '' : `  ${untilRedText(red)}`;
}

function gateLine(receipt: Receipt, { ok, bad }: Symbols): Span[] {
  const role = { gate: 'gate', until: 'until', rerun: 'again', run: 'ran', baseline: 'before' }[receipt.role];
  return [
    '    ',
    [receipt.pass ? 'green' : 'red', `${receipt.pass ? ok : bad} ${role}`],
    ` ${printable(receipt.what)}`,
    ...(receipt.before && receipt.pass ? [['dim', `  ${greenNowText(receipt.before)}`] satisfies Span] : []),
    ...(receipt.tail === undefined ? [] : [['dim', `  ${printable(receipt.tail)}`] satisfies Span]),
  ];
}

const stepIn = (at: string): string => printable(parseHandle(at)?.path.split('/', 1)[0] ?? '');

/** The event has only a handle, so the action is read from the cursor. */
function actionAt(state: State | null, at: string): string {
  const path = at.slice(at.indexOf(':') + 1, at.lastIndexOf('#'));
  return (
    Object.values(state?.cursors ?? {}).find((cursor) => cursor.path === path)?.boundary?.action ?? 'clear'
  );
}
