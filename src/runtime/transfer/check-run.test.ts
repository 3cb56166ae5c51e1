import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memory, randomCommand } from '../../../test/properties/commands.ts';
import { Dice } from '../../../test/properties/dice.ts';
import { hashDefinition } from '../../definition/index.ts';
import { type Command, type Definition, type Event, respond, type State } from '../../machine/index.ts';
import { eventProblem } from '../../schema/index.ts';
import { verifiedStates } from './check-run.ts';

const run = 'golden-1-abcd';
const workflows: Definition[] = JSON.parse(
  readFileSync(new URL('../../machine/fixtures/v1/workflows.json', import.meta.url), 'utf8'),
);

/** Batches as in a journal, from any sequence of commands. */
function played(definition: Definition, seed: number): { now: number; events: Event[] }[] {
  const dice = new Dice(seed);
  const remembered = memory();
  const facts = { witness: 'hooks' as const, environment: { platform: 'x' } };
  let state: State | null = null;
  const batches: { now: number; events: Event[] }[] = [];
  const play = (command: Command): void => {
    const response = respond(definition, state, command);
    state = response.state;
    if (response.events.length > 0) batches.push({ now: command.now, events: response.events });
  };
  play({ type: 'start', now: remembered.now, run, session: 'A', hash: hashDefinition(definition), facts });
  for (let index = 0; index < 80 && state; index += 1)
    play(randomCommand(definition, state, dice, remembered));
  return JSON.parse(JSON.stringify(batches));
}

test('what the machine itself did is sound, whatever was asked of it', () => {
  const seen = new Set<string>();
  for (const [seed, definition] of workflows.entries()) {
    const batches = played(definition, seed);
    const states = verifiedStates(run, { definition, hash: hashDefinition(definition) }, batches);
    expect(states).toHaveLength(batches.length);
    for (const { events } of batches) for (const { type } of events) seen.add(type);
  }
  expect(seen.size).toBeGreaterThan(33);
});

const [definition] = workflows;
if (!definition) throw new Error('no workflow');
const pinned = { definition, hash: hashDefinition(definition) };

test.each<[string, (batches: { now: number; events: Event[] }[]) => void, string]>([
  [
    'brings more than its events have',
    ([first]) => Object.assign(first?.events[0] ?? {}, { todo: 'forged' }),
    'run.started.todo is not known here',
  ],
  [
    'begins twice',
    (batches) => batches.push({ now: 1, events: structuredClone(batches[0]?.events ?? []) }),
    'it begins twice',
  ],
  [
    'has a time that no date can tell',
    ([first]) => Object.assign(first?.events[0] ?? {}, { now: 1e300 }),
    'run.started.now is no number',
  ],
  ['has a batch of no time', ([first]) => Object.assign(first ?? {}, { now: null }), 'is not a batch'],
  [
    'has a summary that is none',
    ([first]) => Object.assign(first?.events[0] ?? {}, { summary: { length: 3 } }),
    'run.started.summary is no text',
  ],
  [
    'was started with another workflow',
    ([first]) => Object.assign(first?.events[0] ?? {}, { workflow: 'another' }),
    'it was started with another workflow',
  ],
])('a run that %s is refused', (_, spoil, words) => {
  const batches = played(pinned.definition, 0).slice(0, 1);
  spoil(batches);
  expect(() => verifiedStates(run, pinned, batches)).toThrow(
    expect.objectContaining({ code: 'bad_history', message: expect.stringContaining(words) }),
  );
});

test.each<[string, object, string]>([
  ['a path that leads out', { todo_path: '../x' }, 'must stay inside the project'],
  ['a base', { extends: 'other' }, "Unknown key 'extends'"],
  [
    'a gate that is none',
    { steps: [{ id: 'a', type: 'action', instructions: 'x', gate: [{}] }] },
    'A gate has exactly one',
  ],
  ['a name that is none', { name: 7 }, 'name must be a text'],
])('a workflow with %s is refused as its file would be', (_, part, words) => {
  const bad = { ...pinned.definition, ...part } as Definition;
  expect(() =>
    verifiedStates(run, { definition: bad, hash: hashDefinition(bad) }, played(pinned.definition, 0)),
  ).toThrow(expect.objectContaining({ code: 'bad_history', message: expect.stringContaining(words) }));
});

test('a process, a handle and a check are named as the machine names them', () => {
  const started = { type: 'gates.started', now: 1, id: 'abcd:plan#1!1', deadline: 2 } as const;
  expect(eventProblem(started)).toBeUndefined();
  expect(eventProblem({ ...started, runner: { pid: 12, host: 'far' } })).toBeUndefined();
  for (const pid of [-1, 0, 1.5])
    expect(eventProblem({ ...started, runner: { pid, host: 'far' } })).toBeDefined();
  for (const id of ['..', 'abcd:plan#1', '../../x:y#1!1 ', 'abcd:plan#0!1'])
    expect(eventProblem({ ...started, id })).toBeDefined();
});
