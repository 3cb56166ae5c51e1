import {
  actions,
  type Command,
  type Cursor,
  type Definition,
  respond,
  type State,
  type Status,
  type TaskInput,
  type Wait,
} from '../../src/machine/index.ts';
import { Broken, cursorAt, handlesIn } from './check.ts';
import { fittingOutput, receiptsFor } from './commands.ts';
import type { Dice } from './dice.ts';
import { suggestedMerge } from './driver-commands.ts';

/** Who follows; with dice, gates are red and work fails by chance, and loops get several tasks. */
interface Follower {
  as?: string;
  dice?: Dice | undefined;
}

/** The command that the most urgent action asks for, as its reader would send it; undefined at the end. */
export function suggested(
  definition: Definition,
  state: State,
  now: number,
  { as, dice }: Follower = {},
): Command | undefined {
  const { action: asked } = statusWithoutEffect(definition, state, now);
  const person = { now, actor: { kind: 'person' as const, name: 'ann' } };
  const handle = asked.do === 'claim' ? (asked.own[0] ?? asked.decisions[0]?.at) : handlesIn(asked)[0];
  if (handle === undefined) {
    if (asked.do === 'nothing') return undefined;
    if (asked.do === 'wait' && asked.for === 'budget') return extended(person, asked.unit);
    if (asked.do === 'wait') return { ...person, type: 'rewind', to: state.step };
    const task = asked.do === 'claim' ? asked.ready[0] : undefined;
    if (task === undefined) {
      const merge = suggestedMerge(state, now, dice);
      if (merge) return merge;
    }
    if (task === undefined) throw new Broken(`an action can be taken: ${JSON.stringify(asked)}`);
    return { now, type: 'claim', holder: as ?? 'A', task };
  }
  const cursor = cursorAt(state, handle);
  const by = cursor.lease?.holder ?? as;
  const session = by === undefined ? {} : { session: by };
  const [action] = actions(definition, state, { cursor, ...session });
  const at = handlesIn(action)[0] ?? handle;
  switch (action.do) {
    case 'work':
    case 'fix':
      return action.do === 'work' && action.finish === 'set_tasks'
        ? { now, type: 'setTasks', loop: action.step, tasks: tasksBy(dice) }
        : dice?.one(10)
          ? { now, type: 'fail', reason: `no luck at ${at}`, at, ...session }
          : { now, type: 'advance', output: fittingOutput(state.noteCount), at, ...session };
    case 'reset_context':
      return cursor.boundary?.state === 'pending'
        ? { now, type: 'status', at, ...session }
        : { now, type: 'boundary', by: 'hook', saw: 'clear', at, ...session };
    case 'wait':
      return decided(action, cursor, at, person, dice);
    default:
      throw new Broken(`a position is worked on or waits: ${JSON.stringify(action)}`);
  }
}

type Person = Pick<Command, 'now' | 'actor'>;

/** What ends a wait: the engine's receipts, or a person's decision. */
function decided(action: Wait, cursor: Cursor, at: string, person: Person, dice?: Dice): Command {
  const { checking, waiting } = cursor;
  switch (action.for) {
    case 'gates': {
      if (!checking) throw new Broken('gates that are waited for are running');
      const { id, runner, deadline } = checking;
      const { now } = person;
      if (now > deadline) return { now, type: 'status', at };
      const receipts = receiptsFor(cursor, () => !dice?.one(4));
      const by = runner ? { runner } : {};
      return { now, actor: { kind: 'engine' }, type: 'gatesFinished', id, receipts, ...by };
    }
    case 'preparation': {
      if (cursor.preparing?.kind === 'tasks')
        return { now: person.now, actor: { kind: 'engine' }, type: 'prepared', at, tasks: tasksBy(dice) };
      const values = { 'inputs.x': 'null' };
      const when = { holds: !dice?.one(3), values };
      return { now: person.now, actor: { kind: 'engine' }, type: 'prepared', at, when };
    }
    case 'answer':
      if (waiting?.kind !== 'question') throw new Broken('an answer is waited for where one was asked for');
      return { ...person, type: 'answer', text: 'yes', question: waiting.id };
    case 'budget':
      return extended(person, action.unit);
    case 'decision':
      return { ...person, type: 'review', verdict: 'revise', at };
    case 'review':
      return { ...person, type: 'review', verdict: 'approve', at };
  }
}

const extended = (person: Person, unit: string): Command => ({
  ...person,
  type: 'review',
  verdict: 'approve',
  amount: { [unit]: 100 },
});

function statusWithoutEffect(definition: Definition, state: State, now: number): Status {
  const { reply } = respond(definition, state, { now, type: 'status' });
  if ('code' in reply) throw new Broken('a status is always answered');
  return reply;
}

function tasksBy(dice: Dice | undefined): TaskInput[] {
  if (!dice) return [{ id: 'last', title: 'Last' }];
  return Array.from({ length: 1 + dice.roll(4) }, (_, index) => ({
    id: `t${index}`,
    title: `Task ${index}`,
    ...(index > 0 && dice.one(3) ? { depends_on: [`t${dice.roll(index)}`] } : {}),
  }));
}
