import type { Amount, Definition, NotificationEvent } from '../schema/index.ts';
import { defined } from './batch.ts';
import { allUsedUp } from './budget-use.ts';
import { type Cursor, ended, type State } from './state.ts';
import { titledPath } from './steps.ts';

/** Something that the workflow's `notify` wants the user to be told. */
export interface Notification {
  event: NotificationEvent;
  kind: 'review' | 'question' | 'decision' | 'budget' | 'complete' | 'failed' | 'cancelled';
  run: string;
  workflow: string;
  summary?: string;
  /** As people read it; absent where it is about the whole run. */
  position?: string;
  /** The agent's question, or why the run is blocked, failed or was cancelled. */
  text?: string;
  /** What is used up; `of`: the budget of the run. */
  unit?: keyof Amount;
  of?: 'run';
}

type Fact = Omit<Notification, 'event' | 'run' | 'workflow' | 'summary'>;

/**
 * What the user is told of a change from `before` to `after`, each fact once. A used-up budget is also a wait: it is told
 * as `waiting` if the workflow asks for that and not for `budget`.
 */
export function notificationsOf(definition: Definition, before: State | null, after: State): Notification[] {
  const wanted = definition.notify ?? [];
  if (wanted.length === 0) return [];
  return newFacts(definition, before, after).flatMap((fact) => {
    const event = eventsOf(fact).find((each) => wanted.includes(each));
    const { run, workflow, summary } = after;
    return event ? [{ event, run, workflow, ...defined({ summary }), ...fact }] : [];
  });
}

function eventsOf({ kind }: Fact): NotificationEvent[] {
  if (kind === 'budget') return ['budget', 'waiting'];
  return kind === 'complete' || kind === 'failed' || kind === 'cancelled' ? ['ended'] : ['waiting'];
}

function newFacts(definition: Definition, before: State | null, after: State): Fact[] {
  const { status, reason: text } = after;
  if (status === 'complete' || status === 'failed' || status === 'cancelled')
    return before && ended(before) ? [] : [{ kind: status, ...defined({ text }) }];
  const waits = (state: State | null) =>
    Object.values(state?.cursors ?? {}).flatMap((cursor) => waitAt(cursor));
  const known = new Set(waits(before).map(({ key }) => key));
  const spent = new Set(before ? allUsedUp(before).map(scopeOf) : []);
  const position = titledPath(definition, after.step);
  return [
    ...allUsedUp(after)
      .filter((each) => !spent.has(scopeOf(each)))
      .map(({ unit, of }): Fact => ({ kind: 'budget', position, unit, ...defined({ of }) })),
    ...(after.blocked !== undefined && before?.blocked === undefined
      ? [{ kind: 'decision', position, text: after.blocked } as const]
      : []),
    ...(after.held && before?.held?.since !== after.held.since
      ? [{ kind: 'decision', position, text: after.held.reason } as const]
      : []),
    ...Object.entries(after.merges ?? {})
      .filter(([task, { state }]) => state === 'parked' && before?.merges?.[task]?.state !== 'parked')
      .map(
        ([task, { reason }]): Fact => ({
          kind: 'decision',
          position: titledPath(definition, `${after.step}/${task}`),
          ...defined({ text: reason }),
        }),
      ),
    ...waits(after)
      .filter(({ key }) => !known.has(key))
      .map(({ kind, cursor, words, question }): Fact => {
        const asked = question && after.questions.find(({ id }) => id === question)?.text;
        return { kind, position: titledPath(definition, cursor.path), ...defined({ text: words ?? asked }) };
      }),
  ];
}

const scopeOf = ({ of = '' }: { of?: string }): string => of;

interface WaitFact {
  /** The same while the position waits for the same thing. */
  key: string;
  kind: Notification['kind'];
  cursor: Cursor;
  words?: string;
  /** The id of the question. */
  question?: string;
}

/** What a position waits for, if it is a person: a review by an agent is not. */
function waitAt(cursor: Cursor): WaitFact[] {
  const { waiting, path, visit } = cursor;
  if (!waiting) return [];
  const key = `${path}#${visit} ${waiting.kind} ${waiting.since}`;
  if (waiting.kind === 'review') return waiting.by === 'human' ? [{ key, kind: 'review', cursor }] : [];
  if (waiting.kind === 'question') return [{ key, kind: 'question', cursor, question: waiting.id }];
  return [{ key, kind: 'decision', cursor, words: waiting.reason }];
}
