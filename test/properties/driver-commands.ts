import type { Command, State } from '../../src/machine/index.ts';
import type { Dice } from './dice.ts';

type Caller = Pick<Command, 'now'> & { session?: string; tree?: string };

const engine = { kind: 'engine' as const };
const person = { kind: 'person' as const, name: 'ann' };
const processes = [
  { pid: 1, machine: 'm1' },
  { pid: 2, machine: 'm1' },
  { pid: 3, machine: 'm2' },
];

/** What drivers, people and the merge queue could send: often late, or from a driver that was replaced. */
export function driverCommand(state: State, dice: Dice, caller: Caller, at: string | undefined): Command {
  const by = { ...caller, actor: engine };
  const process = dice.pick(processes) ?? { pid: 1, machine: 'm1' };
  const epoch = Math.max(1, (state.driver?.epoch ?? 1) - (dice.one(8) ? 1 : 0));
  const task = dice.one(6) ? `t${dice.roll(4)}` : (dice.pick(Object.keys(state.merges ?? {})) ?? 't0');
  switch (dice.roll(10)) {
    case 0:
      return {
        ...by,
        type: 'drive',
        change: 'take',
        process,
        ...(dice.one(2) && { gone: epoch }),
        branch: 'b',
      };
    case 1: {
      const change = dice.one(2) ? ('renew' as const) : ('release' as const);
      return { ...by, type: 'drive', change, process, epoch };
    }
    case 2: {
      const actor = dice.one(4) ? { kind: 'agent' as const } : person;
      return { ...caller, actor, type: dice.one(2) ? 'pause' : 'unpause' };
    }
    case 3:
      return { ...caller, actor: dice.one(4) ? { kind: 'agent' } : person, type: 'retryMerge', task };
    case 4:
      return dice.one(2)
        ? { ...by, type: 'holdQueue', epoch }
        : { ...by, type: 'holdQueue', epoch, why: 'base_red', reason: 'red' };
    case 5:
      return { ...by, type: 'block', at: at ?? 'abcd:s0#1', reason: 'no progress' };
    case 6:
    case 7:
      return { ...by, type: 'mergeStarted', epoch, task, base: 'b0', commit: 'c0' };
    default: {
      const result = dice.pick(['merged', 'merged', 'conflict', 'red'] as const) ?? 'merged';
      return { ...by, type: 'mergeFinished', epoch, task, result, commit: 'c1', reason: 'why' };
    }
  }
}

/** What takes the merge queue on: a driver, a merge, or a person. Undefined if nothing is in it. */
export function suggestedMerge(state: State, now: number, dice: Dice | undefined): Command | undefined {
  const merges = Object.entries(state.merges ?? {});
  const [task, merge] = merges.find(([, each]) => each.state !== 'returned') ?? [];
  if (task === undefined || !merge) return undefined;
  const by = { now, actor: engine };
  const { driver } = state;
  if (merge.state === 'parked') return { now, actor: person, type: 'retryMerge', task };
  if (!driver || driver.released)
    return { ...by, type: 'drive', change: 'take', process: { pid: 1, machine: 'm1' } };
  const { epoch } = driver;
  if (state.held) return { ...by, type: 'holdQueue', epoch };
  if (merge.state === 'queued') return { ...by, type: 'mergeStarted', epoch, task, base: 'b0', commit: 'c0' };
  const result = dice?.one(5) ? ('red' as const) : ('merged' as const);
  return { ...by, type: 'mergeFinished', epoch, task, result, commit: 'c1', reason: 'why' };
}
