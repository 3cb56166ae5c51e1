import type { Command, CommandType } from './command.ts';
import { settle } from './decide.ts';
import type { Definition } from './definition.ts';
import { type Effect, effectsOf } from './effect.ts';
import type { Event } from './event.ts';
import { formatHandle, parseHandle } from './handle.ts';
import { locate, repeatsLast } from './locate.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { State } from './state.ts';
import { instructionsFor, type Status, statusOf } from './status.ts';

export type Reply = (Status & { replayed?: true }) | (Refusal & { instructions?: string });

export interface Response {
  events: Event[];
  /** null when a run could not be started. */
  state: State | null;
  reply: Reply;
  effects: Effect[];
}

const answering: readonly CommandType[] = [
  'start',
  'adopt',
  'import',
  'advance',
  'fail',
  'setTasks',
  'claim',
  'review',
];

/**
 * One command with its answer: decides, folds, and asks for the context action of the position that it opened.
 * Pure; what `execute` wraps with a store.
 */
export function respond(
  definition: Definition,
  state: State | null,
  command: Command,
  values: Record<string, string> = {},
): Response {
  const { refusal, ...settled } = settle(definition, state, command);
  const events = [...settled.events];
  let after = settled.state;
  if (after === null || refusal) {
    const no = refusal ?? refuse('not_started', 'the run has not started', 'start it');
    const effects = after ? effectsOf(state, events, after) : [];
    return { events, state: after, reply: refusalReply(definition, after, no, values), effects };
  }
  const key = answeredKey(definition, state, after, command);
  const open = own(after.cursors, key);
  if (answering.includes(command.type) && open?.boundary?.state === 'pending') {
    const at = formatHandle(after.run, open.path, open.visit);
    const offered = settle(definition, after, { ...caller(command), type: 'status', at });
    events.push(...offered.events);
    after = offered.state ?? after;
  }
  const reply: Reply = statusOf(definition, after, { cursor: own(after.cursors, key), values });
  if (state && isReplay(definition, state, command)) reply.replayed = true;
  return { events, state: after, reply, effects: effectsOf(state, events, after) };
}

/** A refusal for want of a briefing is the briefing: it tells the instructions. */
function refusalReply(
  definition: Definition,
  state: State | null,
  refusal: Refusal,
  values: Record<string, string>,
): Reply {
  if (refusal.code !== 'not_briefed' || state === null) return refusal;
  const found = locate(definition, state, refusal.at);
  if (!('cursor' in found)) return refusal;
  return { ...refusal, instructions: instructionsFor(definition, state, found.cursor, values) };
}

/** The cursor that the answer is about: the caller's own task, else the only one that nobody leases. */
function answeredKey(definition: Definition, before: State | null, after: State, command: Command): string {
  const cursors = Object.entries(after.cursors);
  if (command.type === 'claim') {
    const mine = cursors.find(
      ([, { lease, task }]) => lease?.holder === command.holder && (command.task ?? task) === task,
    );
    return mine?.[0] ?? '';
  }
  const at = 'at' in command ? command.at : undefined;
  if (at !== undefined) {
    const [step = '', task = ''] = parseHandle(at)?.path.split('/') ?? [];
    const key = `${step}/${task}`;
    if (Object.hasOwn(after.cursors, key)) return key;
  }
  const only = cursors.length === 1 ? cursors[0] : undefined;
  if (!only) return '';
  const [key, cursor] = only;
  const asked = at === undefined && before !== null && 'cursor' in locate(definition, before, undefined);
  return cursor.lease === undefined || command.type === 'status' || asked ? key : '';
}

/** The call named work that had been accepted before. */
function isReplay(definition: Definition, before: State, command: Command): boolean {
  if (command.type !== 'advance' && command.type !== 'fail') return false;
  if (command.at !== undefined) return 'replay' in locate(definition, before, command.at);
  return command.type === 'advance' && repeatsLast(before, command.output, command.now);
}

const caller = ({ now, actor, session, tree }: Command) => ({
  now,
  ...(actor ? { actor } : {}),
  ...(session === undefined ? {} : { session }),
  ...(tree === undefined ? {} : { tree }),
});
