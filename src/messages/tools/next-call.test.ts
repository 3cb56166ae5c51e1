import { describe, expect, it } from 'vitest';
import { type Command, type Definition, type Response, respond, type State } from '../../machine/index.ts';
import type { Told } from '../../runtime/index.ts';
import { nextCall } from './next-call.ts';

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

type Bare<C> = C extends Command ? Omit<C, 'now'> : never;

/** The answer to the last of some commands, and what it says to do next. */
function play(...commands: Bare<Command>[]) {
  let state: State | null = null;
  let told: Told | undefined;
  for (const [index, command] of commands.entries()) {
    const id = Object.values(state?.cursors ?? {})[0]?.checking?.id;
    const asked = command.type === 'gatesFinished' ? { id } : {};
    // The parts are those of exactly this command.
    const whole = { session: 's', ...command, ...asked, now: index } as Command;
    const { reply, ...response }: Response = respond(definition, state, whole);
    state = response.state;
    if ('code' in reply) throw new Error(reply.message);
    told = reply;
  }
  if (!state || !told) throw new Error('nothing was played');
  return { told, view: { definition, state } };
}

const run = 'feature-20261114-k3f9x2ab';
const begun: Bare<Command>[] = [{ type: 'start', run }];
const said = (output: string): Bare<Command> => ({ type: 'advance', output });
const gates = (pass: boolean): Bare<Command> => ({
  type: 'gatesFinished',
  id: '',
  receipts: [{ gate: 0, pass, exit: pass ? 0 : 1 }],
  actor: { kind: 'engine' },
});
const done = [...begun, said('1'), gates(true)];
const next = (commands: Bare<Command>[], more: object = {}): string => {
  const { told, view } = play(...commands);
  return nextCall(told, { session: 's', view, ...more });
};

describe('what an agent is to call next', () => {
  it('names the tool', () => {
    expect(next(begun)).toBe(
      'Do what the instructions say, then call workflow_advance with at k3f9x2ab:do#1.',
    );
  });

  it('tells what failed', () => {
    expect(next([...begun, said('1'), gates(false), { type: 'status' }])).toBe(
      'npm test failed (exit 1): mend it, then call workflow_advance with at k3f9x2ab:do#1.',
    );
  });

  it('hands a delegated position to its agent', () => {
    expect(next([...done, { type: 'status' }])).toContain(
      "Hand k3f9x2ab:check#1 to a subagent 'reviewer' (Looks for mistakes; it may not use Write, Edit); it advances k3f9x2ab:check#1.",
    );
  });

  it('says how a context becomes fresh', () => {
    expect(next([...done, said('2')])).toBe(
      'The position wants a fresh context (/clear), which you cannot make yourself: hand k3f9x2ab:polish#1 to a subagent, or end your turn and ask the user to type /clear and then continue. If neither is possible, workflow_status gives the instructions.',
    );
  });

  it('a session that was not asked, and begins now, has the fresh context itself', () => {
    expect(next([...done, said('2')], { session: 'another' })).toBe(
      'Another session was asked for a fresh context here. Where this one has just begun, it is that: call workflow_status with at k3f9x2ab:polish#1.',
    );
    for (const session of ['s', 's/agent', ''])
      expect(next([...done, said('2')], { session })).toContain('/clear');
  });

  const signed = [...done, said('2'), { type: 'status' } as const, said('3'), said('4')];
  it('ends the turn where a person decides, and says that words were not kept', () => {
    expect(next(signed)).toBe('End your turn. The user decides with: stepfast approve');
    expect(next([...signed, said('5')], { ignored: true })).toBe(
      'Your words were not kept, because k3f9x2ab:sign#1 waits for a review. End your turn. The user decides with: stepfast approve',
    );
    expect(next([...begun, { type: 'ask', text: 'Which?' }])).toBe(
      'End your turn. The user decides with: stepfast answer "…"',
    );
  });

  it('explains a repeat without a handle', () => {
    const repeated = [...done, said('1')];
    expect(next(repeated)).toBe(
      'Taken for a repeat of what you said at k3f9x2ab:do#1; to complete k3f9x2ab:check#1 pass at.',
    );
    expect(next(repeated, { named: true })).toContain('Hand k3f9x2ab:check#1');
  });

  const person = { actor: { kind: 'person' } } as const;
  const judged = [...signed, { type: 'review', verdict: 'approve', ...person } as const, said('6')];
  it('sends the one who did the work to a reviewer, and the reviewer to the work', () => {
    expect(next(judged)).toContain(
      "Hand k3f9x2ab:judge#1 to the reviewer 'reviewer' in a session of its own",
    );
    expect(next(judged, { session: 'other' })).toContain(
      "If you are the reviewer 'reviewer', look at the work, then call workflow_advance",
    );
  });

  it('tells what is ready, held, and waited for', () => {
    const tasks = ['a', 'b', 'c'].map((id) => ({
      id,
      title: id,
      ...(id === 'c' ? { depends_on: ['a'] } : {}),
    }));
    const set: Bare<Command>[] = [
      ...judged,
      { type: 'review', verdict: 'approve', ...person },
      { type: 'setTasks', loop: 'work', tasks },
    ];
    expect(next([...set, { type: 'status' }])).toBe(`Call workflow_claim with run_id ${run}; ready: a, b.`);
    const claims: Bare<Command>[] = [
      { type: 'claim', holder: 'x', session: 'x' },
      { type: 'claim', holder: 'y', session: 'y' },
    ];
    expect(next([...set, ...claims, { type: 'status' }])).toBe(
      'Nothing can be claimed, all 2 places are taken: a held by x; b held by y; c waits for a. End your turn, or call workflow_status later.',
    );
  });
});
