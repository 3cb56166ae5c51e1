import { expect, test } from 'vitest';
import {
  type Command,
  sentCommandSchema as commandSchema,
  sentOpeningSchema as openingSchema,
} from './command.ts';
import { commandBodySchema } from './wire.ts';

/** One of each type, all fields. */
const full: Command[] = [
  { type: 'status', at: 'a:b#1', runnerAlive: true, now: 1 },
  { type: 'advance', output: 'x', at: 'a:b#1', runnerAlive: false, missing: ['m'], now: 1, tree: 't' },
  { type: 'fail', reason: 'x', at: 'a:b#1', runnerAlive: false, now: 1 },
  {
    type: 'setTasks',
    loop: 'l',
    tasks: [{ id: 'a', title: 'A', description: 'd', depends_on: ['b'] }],
    now: 1,
  },
  { type: 'claim', holder: 'h', task: 't', now: 1 },
  { type: 'gatesStarted', id: 'a:b#1!1', deadline: 5, runner: { pid: 1, host: 'h' }, now: 1 },
  {
    type: 'gatesFinished',
    id: 'a:b#1!1',
    receipts: [{ gate: 0, pass: true, exit: 0, ms: 1.5, tail: 't', digest: 'd', tree: 't', reused: true }],
    unstable: ['p'],
    runner: { pid: 1, host: 'h' },
    now: 1,
  },
  { type: 'review', verdict: 'pivot', feedback: 'f', at: 'a:b#1', amount: { turns: 1 }, to: 's', now: 1 },
  { type: 'ask', text: 'x', at: 'a:b#1', now: 1 },
  { type: 'answer', text: 'x', question: 'q1', now: 1 },
  { type: 'note', kind: 'variable', text: 'x', key: 'k', at: 'a:b#1', now: 1 },
  { type: 'todo', content: 'x', now: 1 },
  { type: 'read', path: 'p', hash: 'h', now: 1 },
  { type: 'loaded', trigger: 'manual', artifacts: [{ id: 'a', hash: 'h' }], now: 1 },
  { type: 'boundary', by: 'hook', saw: 'clear', at: 'a:b#1', now: 1 },
  { type: 'proceed', at: 'a:b#1', now: 1 },
  { type: 'session', session: 's', event: { type: 'started', host: 'h', witness: 'hooks' }, now: 1 },
  { type: 'session', session: 's', event: { type: 'held', at: 'a:b#1' }, now: 1 },
  { type: 'session', session: 's', event: { type: 'delivered', briefing: 'b', proven: 'none' }, now: 1 },
  {
    type: 'session',
    session: 's',
    event: { type: 'compacted', trigger: 'auto', asked: 1, found: 1, kept: [], lost: ['n1'] },
    now: 1,
  },
  { type: 'spend', turns: 1, tokens: 2, at: 'a:b#1', now: 1 },
  { type: 'rewind', to: 's', now: 1 },
  { type: 'cancel', reason: 'x', now: 1, actor: { kind: 'person', name: 'Ada' } },
];

test('every command of the machine passes as it is, and with nothing that it does not know', () => {
  for (const command of full) {
    expect(commandSchema.parse(command)).toEqual(command);
    expect(commandSchema.safeParse({ ...command, more: 1 }).success).toBe(false);
    const { type, ...rest } = command;
    expect(commandSchema.safeParse({ ...rest, type: `${type}x` }).success).toBe(false);
  }
});

test('a run is begun only by what begins one, and never names it', () => {
  const start = {
    type: 'start',
    summary: 's',
    inputs: { a: 1, b: true, c: 'x' },
    boundaries: 'off',
  } as const;
  expect(openingSchema.parse(start)).toEqual(start);
  expect(openingSchema.safeParse({ ...start, run: 'x-1' }).success).toBe(false);
  expect(openingSchema.safeParse({ type: 'status' }).success).toBe(false);
  expect(commandSchema.safeParse({ ...start, run: 'x-1' }).success).toBe(false);
  expect(openingSchema.safeParse({ type: 'adopt', adopted: { source: 'NOTES.md' } }).success).toBe(true);
});

test('what grows without end is refused', () => {
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`i${at}`, 1]));
  expect(openingSchema.safeParse({ type: 'start', inputs: many }).success).toBe(false);
  expect(commandSchema.safeParse({ type: 'claim', holder: 'x'.repeat(1001) }).success).toBe(false);
  expect(commandSchema.safeParse({ type: 'spend', turns: Number.MAX_VALUE }).success).toBe(false);
  const started = (count: number, length: number) => {
    const entries = Array.from({ length: count }, (_, at) => [`e${at}`, 'x'.repeat(length)]);
    const facts = { environment: Object.fromEntries(entries) };
    const event = { type: 'started', ...facts };
    return [
      commandSchema.safeParse({ type: 'session', session: 's', event }).success,
      openingSchema.safeParse({ type: 'start', facts }).success,
      commandBodySchema.safeParse({ command: { type: 'status' }, circumstances: { facts } }).success,
    ];
  };
  expect(started(30, 500)).toEqual([true, true, true]);
  expect(started(31, 1)).toEqual([false, false, false]);
  expect(started(1, 501)).toEqual([false, false, false]);
  const tasks = Array.from({ length: 10_001 }, (_, at) => ({ id: `t${at}`, title: 't' }));
  expect(commandSchema.safeParse({ type: 'setTasks', loop: 'l', tasks }).success).toBe(false);
});
