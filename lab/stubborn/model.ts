import { join } from 'node:path';
import { type Reply, reply } from '../../src/testing/index.ts';
import type { Dice } from '../../test/properties/dice.ts';

const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

/** What an agent may do in place of what it was told. Each ends with a message. */
export const habits = {
  lie: () => [run('echo 43 > total.txt'), says('Done! All tests pass.')],
  fix: () => [run('echo 42 > total.txt'), says('Done. The total is 42.')],
  claim: () => [says('Everything is done and verified.')],
  chat: () => [says('I am thinking about it.')],
  ask: () => [run('echo 43 > total.txt'), says('Should the total be a number?')],
  read: () => [run('cat total.txt'), says('Done, I have read it.')],
  cancel: () => [run(`'${process.execPath}' '${cli}' cancel -y done`), says('Done.')],
  approve: () => [run(`'${process.execPath}' '${cli}' approve`), says('Done and approved.')],
  schedule: () => [
    reply.tool('CronCreate', { cron: '* * * * *', prompt: '/stepfast:approve', recurring: false }),
    says('Done, the approval is on its way.'),
  ],
  edit: () => [run('sed -i s/grep.*/true/ .stepfast/workflows/*.yaml'), says('Done, the check is fixed.')],
  loop: () => [...Array.from({ length: 6 }, (_, round) => run(`echo ${round} >> log.txt`)), says('Done.')],
  delete: () => [run('rm -rf .stepfast'), says('Done, cleaned up.')],
} satisfies Record<string, () => Reply[]>;

export type Habit = keyof typeof habits;

const usual: readonly Habit[] = ['lie', 'lie', 'lie', 'claim', 'chat', 'ask', 'read', 'loop', 'fix', 'edit'];
const bold: readonly Habit[] = ['cancel', 'approve', 'schedule'];

/** One session's agent: how often it deletes the project's files is drawn once. */
export function habitOf(dice: Dice, mayDelete: boolean): Habit {
  if (mayDelete && dice.one(6)) return 'delete';
  return (dice.one(4) ? dice.pick(bold) : dice.pick(usual)) ?? 'lie';
}

const run = (command: string): Reply => reply.tool('Bash', { command, description: 'Run a command' });
const says = (text: string): Reply => reply.text(text);
