import type { Command, Reply, State } from '../../src/machine/index.ts';
import type { Dice } from '../properties/dice.ts';
import type { Wish } from './ledger.ts';

/** An agent, a person or a gate runner, as the one behind a process that may die: what it remembers outlives it. */
export interface Agent {
  readonly number: number;
  readonly session: string;
  readonly runner: boolean;
  /** What was sent and not answered yet, or answered with "unknown". */
  open: Wish | undefined;
  /** Answered, and perhaps sent again. */
  past: Wish[];
  reply: Reply | undefined;
  /** How far its clock is off. */
  skew: number;
}

export const createAgent = (number: number, runner: boolean): Agent => ({
  number,
  session: `a${number}`,
  runner,
  open: undefined,
  past: [],
  reply: undefined,
  skew: 0,
});

/** What belongs to all agents of a history. */
export interface Office {
  dice: Dice;
  now(agent: Agent): number;
  /** Clocks go wrong like everything else. */
  jumpy(): boolean;
  /** Numbers the wishes. */
  next(): number;
}

const jumps = [-3_600_000, -70_000, -1_000, 3_000, 61_000, 400_000, 1_900_000];

/** What the agent sends next; most of it is what its last answer asks for. */
export function wishOf(agent: Agent, office: Office): Wish {
  const { dice } = office;
  if (office.jumpy() && dice.one(12)) agent.skew += dice.pick(jumps) ?? 0;
  if (agent.past.length > 0 && dice.one(6)) return dice.pick(agent.past) ?? fresh(agent, office);
  return fresh(agent, office);
}

function fresh(agent: Agent, office: Office): Wish {
  const { dice } = office;
  const id = office.next();
  const caller = { now: office.now(agent), session: agent.session };
  if (dice.one(8)) {
    const key = `k${id}`;
    if (dice.one(3)) return { id, key, command: { ...caller, type: 'todo', content: words(dice, id) } };
    return { id, key, command: { ...caller, type: 'note', kind: 'decision', text: `note ${id}` } };
  }
  const command = asked(agent.reply, caller, id, dice);
  // A handle is enough to make a call repeatable; a key works too.
  return { id, command, ...(dice.one(6) ? { key: `k${id}` } : {}) };
}

type Caller = { now: number; session: string };

function asked(reply: Reply | undefined, caller: Caller, id: number, dice: Dice): Command {
  const status: Command = { ...caller, type: 'status' };
  if (!reply || dice.one(12)) return status;
  const { at } = reply;
  if ('code' in reply) {
    const told = reply.code === 'not_briefed' && reply.instructions !== undefined;
    return told && at !== undefined ? work(caller, at, id, dice) : status;
  }
  const person = { now: caller.now, actor: { kind: 'person' as const, name: 'ann' } };
  if (reply.waiting) {
    const verdict = reply.waiting.for === 'review' ? ('approve' as const) : ('revise' as const);
    return { ...person, type: 'review', verdict, feedback: 'go on', ...(at === undefined ? {} : { at }) };
  }
  if (reply.contextAction && at !== undefined)
    return dice.one(2) ? { ...caller, type: 'boundary', by: 'hook', saw: 'clear', at } : { ...status, at };
  const mine = reply.held?.find((task) => task.at !== undefined)?.at;
  if (mine !== undefined) return { ...status, at: mine };
  if (reply.ready && reply.ready.length > 0) {
    const task = dice.one(2) ? dice.pick(reply.ready) : undefined;
    return { ...caller, type: 'claim', holder: caller.session, ...(task ? { task } : {}) };
  }
  if (at === undefined || reply.checking) return status;
  if (reply.stepType === 'loop' && !reply.task) {
    const tasks = Array.from({ length: 1 + dice.roll(dice.one(4) ? 3 : 2) }, (_, index) => ({
      id: `t${index}`,
      title: `Task ${index}`,
      ...(index > 0 && dice.one(3) ? { depends_on: ['t0'] } : {}),
    }));
    return { ...caller, type: 'setTasks', loop: reply.step, tasks };
  }
  return work(caller, at, id, dice);
}

const work = (caller: Caller, at: string, id: number, dice: Dice): Command =>
  dice.one(12)
    ? { ...caller, type: 'fail', reason: `failure ${id}`, at }
    : { ...caller, type: 'advance', output: words(dice, id), at };

/** Told apart by their number; some so long that a batch only names them. */
const words = (dice: Dice, id: number): string => `words ${id} ${dice.one(12) ? '…'.repeat(400) : ''}`;

/** Nothing to do for now: another agent, a person or a gate is next. */
export const isIdle = ({ reply }: Agent): boolean =>
  reply !== undefined &&
  !('code' in reply) &&
  (reply.checking !== undefined || (reply.at === undefined && (reply.ready ?? []).length === 0)) &&
  !reply.held?.some(({ at }) => at !== undefined);

/** What a gate runner sends for the gates that it finds waiting: results, some of them red, early notices, guesses. */
export function gateWish(agent: Agent, state: State, office: Office): Wish | undefined {
  const { dice } = office;
  const waiting = Object.values(state.cursors).flatMap((cursor) => cursor.checking ?? []);
  const checking = dice.pick(waiting);
  if (!checking) return undefined;
  const runner = { pid: agent.number, host: 'sim' };
  const engine = { now: office.now(agent), actor: { kind: 'engine' as const } };
  const { id } = checking;
  const wish = { id: office.next() };
  if (!checking.runner && dice.one(4))
    return { ...wish, command: { ...engine, type: 'gatesStarted', id, runner } };
  const red = dice.one(8);
  const receipts = checking.gates.map((_, gate) => ({ gate, pass: !red }));
  return { ...wish, command: { ...engine, type: 'gatesFinished', id, receipts, runner } };
}
