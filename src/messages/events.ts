import {
  type Definition,
  type Event,
  type Receipt,
  type Text,
  titledPath,
  type Verdict,
} from '../machine/index.ts';
import { unitText } from './budget.ts';
import { greenNowText, ownWorkText, redBeforeText, reportedText } from './gate-results.ts';
import { holderText } from './sender.ts';
import { shortSession } from './short-session.ts';
import { exhaustedText, lookedAtText, untilRedText } from './status.ts';
import { capitalized, printable } from './text.ts';

/** A piece of a line: plain, or with the look that a terminal gives it. */
export type Piece =
  | string
  | readonly [look: 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'magenta' | 'cyan', text: string];

/** What stands before a line. */
export type EventMarks = Record<'done' | 'bad' | 'here' | 'waits', string>;

/** The same as one line of text, which has words instead of marks. */
export function eventSentence(event: Event, definition: Definition): string | undefined {
  const pieces = describeEvent(event, { ...noMarks, ...markWords[event.type] }, definition);
  const text = pieces?.map((piece) => (typeof piece === 'string' ? piece : piece[1])).join('');
  return text === undefined ? undefined : capitalized(text.trim().replaceAll(/ {2,}/g, ' · '));
}

const noMarks: EventMarks = { done: '', bad: '', here: '', waits: '' };
const markWords: Partial<Record<Event['type'], Partial<EventMarks>>> = {
  'gates.finished': { done: 'passed:', bad: 'failed:' },
  'position.completed': { done: 'completed' },
  'position.entered': { here: 'began' },
  'position.prepared': { here: 'began' },
};

/** Describes an event for people; undefined for internal events. */
export function describeEvent(event: Event, marks: EventMarks, definition?: Definition): Piece[] | undefined {
  const { done, bad, here, waits } = marks;
  const titled = (path: string): string => (definition ? titledPath(definition, path) : path);
  const path = 'at' in event && event.at !== undefined ? titled(pathIn(event.at)) : '';
  switch (event.type) {
    case 'run.started':
      return [['bold', 'started'], ` ${event.workflow}`, ...note(event.summary)];
    case 'run.adopted':
      return [['bold', 'adopted'], ` from ${event.adopted.source}`];
    case 'run.imported':
      return [['bold', 'imported'], ' from a saved state'];
    case 'run.completed':
      return [['green', `${done} run complete`]];
    case 'run.failed':
      return [['red', `${bad} run failed`], ...note(event.reason)];
    case 'run.cancelled':
      return [['red', `${bad} run cancelled`], ...note(event.reason)];
    case 'cleanup.started':
      return [['dim', 'cleanup started']];
    case 'cleanup.finished':
      return event.pass
        ? [['green', `${done} cleanup ${event.step}`]]
        : [['red', `${bad} cleanup ${event.step} failed`], ...note(event.tail)];
    case 'run.blocked':
      return [['red', `${waits} blocked`], ...note(event.reason)];
    case 'run.rewound':
      return [['yellow', 'rewound'], ` to ${titled(event.to)}`];
    case 'run.pivoted':
      return [['magenta', 'pivot'], ` from ${titled(event.from)} to ${titled(event.to)}`];
    case 'run.paused':
      return [['yellow', 'paused'], ` by ${event.by}`];
    case 'run.unpaused':
      return [['magenta', 'unpaused'], ` by ${event.by}`];
    case 'driver.taken':
      return [['dim', `driven by process ${event.process.pid} on ${event.process.machine}`]];
    case 'merge.queued':
      return [['cyan', `${here} ${event.task}`], ' waits to be merged'];
    case 'merge.finished':
      return [['green', `${done} ${event.task} merged`], ...note(event.commit.slice(0, 10))];
    case 'merge.failed':
      return [
        ['red', `${bad} ${event.task} not merged: ${event.why === 'red' ? 'gates are red' : event.why}`],
        ...note(event.reason),
      ];
    case 'merge.parked':
      return [['red', `${waits} ${event.task} parked`], ...note(event.reason)];
    case 'merge.retried':
      return [['magenta', `${event.task} tried again`], ` by ${event.by}`];
    case 'queue.held':
      return [['red', `${waits} merging waits for a person`], ...note(event.reason)];
    case 'queue.resumed':
      return [['cyan', 'merging goes on']];
    case 'step.skipped':
      return [['dim', `${titled(event.step)} skipped`], ...note(lookedAtText(event.values))];
    case 'position.prepared':
      return [['cyan', `${here} ${path}`]];
    case 'position.skipped':
      return [['dim', `${path} skipped`], ...note(lookedAtText(event.values))];
    case 'position.entered': {
      // Whether there is work is not known yet.
      if (event.preparing && event.preparing !== 'baseline') return undefined;
      const why = event.why === 'next' || event.why === 'claim' ? '' : `, ${event.why}`;
      const holder = event.lease ? `, held by ${holderText(event.lease)}` : '';
      return [
        ['cyan', `${here} ${titled(enteredPath(event))}`],
        ['dim', ` visit ${event.visit}${why}${holder}`],
      ];
    }
    case 'position.completed': {
      const checked = event.receipts.some(({ pass }) => pass);
      const mark: Piece[] = checked ? [] : ['  ', ['yellow', 'unverified']];
      const red = event.receipts
        .filter(({ pass, role }) => !pass && role === 'until')
        .map(({ what }) => what);
      const until: Piece[] = red.length === 0 ? [] : ['  ', ['yellow', untilRedText(red)]];
      return [['green', `${done} ${path}`], ...mark, ...until, ...note(openingOf(event.output))];
    }
    case 'position.failed':
      return [['red', `${bad} ${path} failed`], ...note(event.reason)];
    case 'position.blocked':
      return [['red', `${waits} ${path} blocked`], ...note(event.reason)];
    case 'tasks.set':
      return [
        ...['tasks for ', event.loop],
        ...(event.reportedBy ? [['yellow', ` ${reportedText}`] satisfies Piece] : []),
        ...note(event.tasks.map(({ id }) => id).join(', ') || 'none'),
      ];
    case 'task.ended':
      return event.end === 'done' ? undefined : [['yellow', `${event.task} ${event.end}`]];
    case 'task.dropped':
      return [['yellow', `${event.task} removed`], ` by ${event.by}`, ...note(event.reason)];
    case 'gates.requested': {
      const command = event.gates.find(({ role }) => role === 'run')?.gate.run;
      if (command !== undefined) return [`running ${command}`];
      if (event.gates.some(({ role }) => role === 'baseline'))
        return [`running gates of ${path} before the work begins`];
      const claim = openingOf(event.output);
      const said: Piece[] = claim === '' ? [] : ['said ', ['dim', `"${claim}"`], '; '];
      return [...said, `running gates of ${path}`];
    }
    case 'gates.finished':
      return event.receipts.flatMap((receipt, index): Piece[] => [
        ...(index > 0 ? [', '] : []),
        [receipt.pass ? 'green' : 'red', `${receipt.pass ? done : bad} ${receipt.what}`],
        ...(receipt.pass || receipt.exit === undefined ? [] : [` exit ${receipt.exit}`]),
        ...(receipt.role === 'baseline' ? [['dim', ' before the work'] satisfies Piece] : []),
        ...changeOf(receipt),
        ...(receipt.reportedBy ? [['yellow', ` ${reportedText}`] satisfies Piece] : []),
      ]);
    case 'gates.interrupted':
      return [['yellow', 'gates interrupted'], ` (${event.why})`];
    case 'review.requested':
      return [
        ['yellow', `${waits} ${path} waiting`],
        ` for review by ${event.by === 'human' ? 'a person' : event.by}`,
        ...(event.exhausted ? note(exhaustedText(path.split('/', 1)[0] ?? '')) : []),
      ];
    case 'review.decided':
      return [
        ['magenta', event.verdict],
        ` ${path} by ${event.by}`,
        ...(event.ownWork ? [['yellow', `, ${ownWorkText}`] satisfies Piece] : []),
        ...note(event.feedback),
      ];
    case 'budget.exhausted':
      return [
        [
          'yellow',
          `${waits} budget${event.of === 'run' ? ' of the run' : ''} used up: ${unitText(event.what)}`,
        ],
      ];
    case 'budget.extended':
      return [
        ['magenta', 'budget raised'],
        ` by ${event.by}: ${Object.entries(event.amount)
          .map(([what, more]) => `${more} ${what}`)
          .join(', ')}`,
      ];
    case 'question.asked':
      return [['yellow', `${waits} ${event.id}`], ...note(event.text)];
    case 'question.answered':
      return [['magenta', `answer to ${event.id}`], ...note(event.answer)];
    case 'note.added':
      return [`${event.kind}${event.key === undefined ? '' : ` ${event.key}`}`, ...note(event.text)];
    case 'todo.replaced':
      return ['to-do list replaced'];
    case 'artifacts.loaded':
      return [['dim', `loaded ${event.artifacts.map(({ id }) => id).join(', ')} (${event.trigger})`]];
    case 'boundary.requested':
      return [
        ['cyan', 'context action requested'],
        ` at ${path}${event.downgraded ? ', downgraded to preferred because it cannot be observed' : ''}`,
      ];
    case 'boundary.reset':
      return [
        ['cyan', `context ${event.saw === 'new' ? 'started fresh' : `${event.saw} observed`}`],
        ` at ${path} by ${event.by}`,
      ];
    case 'boundary.released':
      return event.how === 'reset'
        ? undefined
        : [
            ['yellow', `context action ${event.how === 'skipped' ? 'skipped' : 'waived by a person'}`],
            ` at ${path}`,
          ];
    case 'briefing.delivered':
      return event.proven === 'none'
        ? [['yellow', `briefing ${event.briefing} not delivered`], ` in ${shortSession(event.session)}`]
        : [['dim', `briefing ${event.briefing} delivered (${event.proven})`]];
    case 'compaction.recorded':
      return [
        ['cyan', `context compacted (${event.trigger})`],
        ` summary kept ${event.found} of ${event.asked} facts`,
        ...(event.lost.length === 0 ? [] : note(`restored: ${event.lost.join(', ')}`)),
      ];
    case 'session.started':
      return [
        [
          'dim',
          `session ${shortSession(event.session)} joined${event.host === undefined ? '' : ` with ${event.host}`}`,
        ],
      ];
    case 'session.ended':
      return [['dim', `session ${shortSession(event.session)} ended`]];
    case 'stop.held':
      return [['yellow', 'stop blocked'], ` at ${path}`];
    default:
      return undefined;
  }
}

/** Whether a gate with `baseline` was red before the work began. */
const changeOf = ({ pass, before }: Receipt): Piece[] =>
  before === undefined ? [] : [['dim', ` ${pass ? greenNowText(before) : redBeforeText(before)}`]];

/** The position that work has begun on. */
export const enteredPath = (event: Extract<Event, { type: 'position.entered' }>): string =>
  [event.step, event.task ?? event.iteration, event.subStep].filter((part) => part !== undefined).join('/');

const pathIn = (at: string): string => at.slice(at.indexOf(':') + 1);

const note = (text: string | undefined): Piece[] =>
  text === undefined || text === '' ? [] : ['  ', ['dim', text]];

/** The first line with text. */
export const openingOf = (text: Text): string => {
  const opening = typeof text === 'string' ? text : text.opening;
  return printable(
    opening
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? '',
  );
};

export type DecisionKind = Verdict | 'drop task' | 'raise budget' | 'proceed' | 'rewind' | 'cancel';

/** What a person did, after the name: "Ada approved". */
export const decided: Record<DecisionKind, string> = {
  approve: 'approved',
  revise: 'sent back',
  pivot: 'pivoted',
  escalate: 'escalated',
  abandon: 'abandoned',
  'drop task': 'dropped the task',
  'raise budget': 'raised the budget',
  proceed: 'went on without the context action',
  rewind: 'rewound the run',
  cancel: 'cancelled the run',
};
