import { describe, expect, it } from 'vitest';
import {
  actions,
  type Command,
  type Definition,
  type Response,
  respond,
  type State,
  type Status,
} from './index.ts';

const definition: Definition = {
  name: 'feature',
  description: 'A feature',
  agents: { reviewer: { description: 'Looks for mistakes', cannot: ['Write', 'Edit'] } },
  loops: { work: [{ id: 'implement', instructions: 'Implement.' }] },
  steps: [
    { id: 'do', type: 'action', instructions: 'Do.', gate: [{ run: 'npm test' }] },
    { id: 'check', type: 'action', agent: 'reviewer', instructions: 'Check.' },
    { id: 'polish', type: 'action', context: 'clear', instructions: 'Polish.' },
    { id: 'sign', type: 'action', instructions: 'Sign.', review: { by: 'human' } },
    { id: 'judge', type: 'action', instructions: 'Judge.', review: { by: 'reviewer' } },
    { id: 'work', type: 'loop', parallel: 2 },
  ],
};

type WithoutNow<C> = C extends Command ? Omit<C, 'now'> : never;

/** The answer to the last of some commands. */
function play(...commands: WithoutNow<Command>[]): Status {
  return playAll(commands).told;
}

const stateAfter = (...commands: WithoutNow<Command>[]): State => playAll(commands).state;

function playAll(commands: WithoutNow<Command>[]): { told: Status; state: State } {
  let state: State | null = null;
  let told: Status | undefined;
  for (const [index, command] of commands.entries()) {
    const id = Object.values(state?.cursors ?? {})[0]?.checking?.id;
    const asked = command.type === 'gatesFinished' ? { id } : {};
    // The parts are those of exactly this command.
    const whole = { session: 's', ...command, ...asked, now: index } as Command;
    const { reply, ...response }: Response = respond(definition, state, whole);
    state = response.state;
    if ('code' in reply) throw new Error(JSON.stringify(reply));
    told = reply;
  }
  if (!told || !state) throw new Error('nothing was played');
  return { told, state };
}

const run = 'feature-20261114-k3f9x2ab';
const begun: WithoutNow<Command>[] = [{ type: 'start', run }];
const said = (output: string): WithoutNow<Command> => ({ type: 'advance', output });
const gates = (pass: boolean): WithoutNow<Command> => ({
  type: 'gatesFinished',
  id: '',
  receipts: [{ gate: 0, pass, exit: pass ? 0 : 1 }],
  actor: { kind: 'engine' },
});
const done = [...begun, said('1'), gates(true)];
const actionAfter = (...commands: WithoutNow<Command>[]): object => play(...commands).action;

describe('the next action', () => {
  it('is the work of the open position', () => {
    const work = { do: 'work', at: 'k3f9x2ab:do#1', step: 'do', finish: 'advance' };
    expect(actionAfter(...begun)).toEqual(work);
  });

  it('is to fix the gates that failed', () => {
    expect(actionAfter(...begun, said('1'), gates(false), { type: 'status' })).toEqual({
      do: 'fix',
      at: 'k3f9x2ab:do#1',
      gates: [{ what: 'npm test', exit: 1 }],
    });
  });

  it('delegates a position to its agent', () => {
    expect(actionAfter(...done, { type: 'status' })).toMatchObject({
      do: 'work',
      at: 'k3f9x2ab:check#1',
      delegate: { agent: 'reviewer', description: 'Looks for mistakes', cannot: ['Write', 'Edit'] },
    });
  });

  it('is a fresh context, which another session that begins now already has', () => {
    const reset = { do: 'reset_context', at: 'k3f9x2ab:polish#1', context: 'clear', required: false };
    expect(actionAfter(...done, said('2'))).toEqual(reset);
    const asked = [...done, said('2')];
    const state = stateAfter(...asked);
    const cursor = Object.values(state.cursors)[0];
    expect(actions(definition, state, { cursor, session: 'another' })).toEqual([
      { ...reset, elsewhere: true },
    ]);
    for (const session of ['s', 's/agent', ''])
      expect(actions(definition, state, { cursor, session })).toEqual([reset]);
  });

  const signed = [...done, said('2'), { type: 'status' } as const, said('3'), said('4')];
  it('waits where a person decides', () => {
    const at = 'k3f9x2ab:sign#1';
    expect(actionAfter(...signed)).toEqual({ do: 'wait', for: 'review', by: 'person', at });
    expect(actionAfter(...begun, { type: 'ask', text: 'Which?' })).toEqual({
      do: 'wait',
      for: 'answer',
      at: 'k3f9x2ab:do#1',
    });
  });

  const person = { actor: { kind: 'person' } } as const;
  const judged = [...signed, { type: 'review', verdict: 'approve', ...person } as const, said('6')];
  it('tells the session that did the work from a reviewer', () => {
    const review = { do: 'wait', for: 'review', by: { agent: 'reviewer' }, at: 'k3f9x2ab:judge#1' };
    expect(actionAfter(...judged)).toEqual({ ...review, ownWork: true });
    const state = stateAfter(...judged);
    const cursor = Object.values(state.cursors)[0];
    expect(actions(definition, state, { cursor, session: 'other' })).toEqual([review]);
  });

  it('is a claim with what is ready, held, and waited for; own tasks follow', () => {
    const tasks = ['a', 'b', 'c'].map((id) => ({
      id,
      title: id,
      ...(id === 'c' ? { depends_on: ['a'] } : {}),
    }));
    const set: WithoutNow<Command>[] = [
      ...judged,
      { type: 'review', verdict: 'approve', ...person },
      { type: 'setTasks', loop: 'work', tasks },
    ];
    const waits = { task: 'c', state: { is: 'depends', on: ['a'] } };
    expect(actionAfter(...set, { type: 'status' })).toMatchObject({
      do: 'claim',
      run,
      ready: ['a', 'b'],
      open: [waits],
    });
    const claims: WithoutNow<Command>[] = [
      { type: 'claim', holder: 'x', session: 'x' },
      { type: 'claim', holder: 'y', session: 'y' },
    ];
    const state = stateAfter(...set, ...claims);
    expect(actions(definition, state, { session: 'x' })).toMatchObject([
      {
        do: 'claim',
        ready: [],
        own: ['k3f9x2ab:work/a/implement#1'],
        held: 2,
        limit: 2,
        open: [
          { task: 'a', state: { is: 'held', by: 'x' } },
          { task: 'b', state: { is: 'held', by: 'y' } },
          waits,
        ],
      },
      { do: 'work', at: 'k3f9x2ab:work/a/implement#1', finish: 'advance' },
    ]);
  });
});
