import { expect, test } from 'vitest';
import { type Command, type Event, replay, type State, settle } from '../../src/machine/index.ts';
import { costMeter } from '../kit/cpu-time.ts';
import { loop, workflow } from '../kit/run.ts';

test('ten thousand events replay in well under a second', () => {
  const definition = workflow([loop('build')], {
    loops: {
      build: [
        { id: 'code', instructions: 'C', context: 'compact' },
        { id: 'check', instructions: 'D', gate: [{ run: 'make' }] },
      ],
    },
  });
  const events: Event[] = [];
  let state: State | null = null;
  const receipts = [{ gate: 0, role: 'gate' as const, what: 'make', pass: true }];
  const send = (command: Command) => {
    const settled = settle(definition, state, command);
    events.push(...settled.events);
    state = settled.state;
  };
  const tasks = Array.from({ length: 500 }, (_, index) => ({ id: `t${index}`, title: `Task ${index}` }));
  send({ now: 1, type: 'start', run: 'big-1-abc' });
  send({ now: 1, type: 'setTasks', loop: 'build', tasks });
  for (const { id } of tasks) {
    send({ now: 1, type: 'status' });
    send({ now: 1, type: 'status' });
    send({ now: 1, type: 'advance', output: 'code', at: `abc:build/${id}/code#1` });
    for (let turn = 0; turn < 12; turn += 1) send({ now: turn, type: 'spend', turns: 1, tokens: 100 });
    send({ now: 1, type: 'advance', output: 'check', at: `abc:build/${id}/check#1` });
    send({
      now: 1,
      actor: { kind: 'engine' },
      type: 'gatesFinished',
      id: `abc:build/${id}/check#1!1`,
      receipts,
    });
  }
  expect(events.length).toBeGreaterThan(10_000);
  const spent = costMeter();
  const replayed = replay(definition, null, events);
  expect(spent()).toBeLessThan(60);
  expect(replayed).toEqual(state);
  expect(replayed.status).toBe('complete');
});
