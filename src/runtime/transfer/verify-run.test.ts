import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashDefinition } from '../../definition/index.ts';
import { type Command, type Definition, type Event, respond, type State } from '../../machine/index.ts';
import { encodeLine, genesis } from '../../store/file/journal.ts';
import { describeText } from '../../store/index.ts';
import type { RunTree } from './run-tree.ts';
import { verifyRun } from './verify-run.ts';

const run = 'forged-20261115-k3f9x2ab';
const definition: Definition = {
  name: 'forged',
  description: 'A loop with tasks',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan it' },
    { id: 'build', type: 'loop', parallel: 2 },
  ],
  loops: { build: [{ id: 'do', instructions: 'Do it' }] },
};
const long = describeText('Many words. '.repeat(200));

interface Content {
  batches: { now: number; events: Event[]; pinned?: { hash: string; definition: Definition } }[];
  texts: Map<string, Uint8Array>;
  workflow: string;
}

/** A valid run; each test corrupts a part of it. */
function honest(): Content {
  const pinned = { hash: hashDefinition(definition), definition };
  let state: State | null = null;
  const batches = [
    { type: 'start', run, hash: pinned.hash },
    { type: 'advance', output: long.kept },
    { type: 'setTasks', loop: 'build', tasks: [{ id: 't1', title: 'One' }] },
    { type: 'claim', holder: 'one' },
  ].map((command, index) => {
    const now = Date.UTC(2026, 10, 15) + index;
    // The fields of one command.
    const response = respond(definition, state, { now, session: 'one', ...command } as Command);
    state = response.state;
    return { now, events: response.events, ...(index === 0 ? { pinned: structuredClone(pinned) } : {}) };
  });
  return { batches, texts: new Map([[long.kept.digest, long.bytes]]), workflow: JSON.stringify(pinned) };
}

/** Valid checksums and hashes: an attacker has them too. */
function sealed({ batches, texts, workflow }: Content): RunTree {
  let prev = genesis(run);
  const lines = batches.map((batch, index) => {
    const line = { ...batch, seq: index + 1, prev, machine: 'far', nonce: `n${index}` };
    const { bytes, hash } = encodeLine(line);
    prev = hash;
    return bytes;
  });
  return { journal: Buffer.concat(lines), workflow: Buffer.from(workflow), texts };
}

const pinnedIn = ({ batches }: Content): { hash: string; definition: Definition } => {
  const pinned = batches[0]?.pinned;
  if (!pinned) throw new Error('no workflow');
  return pinned;
};

/** The events of a type, to corrupt. */
const eventIn = ({ batches }: Content, type: string): Record<string, unknown> => {
  const found = batches.flatMap(({ events }) => events).find((event) => event.type === type);
  if (!found) throw new Error(`no ${type}`);
  return found as unknown as Record<string, unknown>;
};

test('an honest run is verified, with the state that it leads to', () => {
  const { state, lines, texts } = verifyRun(run, sealed(honest()));
  expect(state).toMatchObject({ run, step: 'build', status: 'running' });
  expect(lines).toHaveLength(4);
  expect([...texts.keys()]).toEqual([long.kept.digest]);
});

test.each<[string, (content: Content) => void, string]>([
  [
    'pins a workflow under the hash of another',
    (content) => {
      pinnedIn(content).definition.steps[0] = { id: 'plan', type: 'action', instructions: 'Something else' };
    },
    'does not match its hash',
  ],
  [
    'shows another workflow than it pins',
    (content) => {
      content.workflow = JSON.stringify({ hash: 'sha256:0', definition });
    },
    'workflow.json is of another run',
  ],
  [
    'has no JSON for a workflow',
    (content) => {
      content.workflow = 'not json';
    },
    'cannot be replayed',
  ],
  [
    'pins no workflow at all',
    (content) => {
      const empty = {} as Definition;
      Object.assign(pinnedIn(content), { definition: empty, hash: hashDefinition(empty) });
      content.workflow = JSON.stringify(pinnedIn(content));
    },
    'its workflow is not valid here',
  ],
  [
    'has an unknown event',
    (content) => {
      eventIn(content, 'tasks.set').type = 'root.granted';
    },
    "unknown event 'root.granted'",
  ],
  [
    'has an event named like a property of every object',
    (content) => {
      eventIn(content, 'tasks.set').type = 'constructor';
    },
    "unknown event 'constructor'",
  ],
  [
    'lacks a text',
    (content) => {
      content.texts.clear();
    },
    'it lacks the text',
  ],
  [
    'has another text',
    (content) => {
      content.texts.set(long.kept.digest, Buffer.from('Other words'));
    },
    'was edited',
  ],
  [
    'brings a text that nothing names',
    (content) => {
      const { bytes, kept } = describeText('Luggage');
      content.texts.set(kept.digest, bytes);
    },
    'nothing names the text',
  ],
  [
    'is another run inside',
    (content) => {
      eventIn(content, 'run.started').run = 'other-20261115-aaaaaaaa';
    },
    'it is the run other-20261115-aaaaaaaa',
  ],
  [
    'has a task that is a path',
    (content) => {
      eventIn(content, 'tasks.set').tasks = [{ id: '../../../outside', title: 'One' }];
    },
    'tasks.set.tasks[0].id is not written as it should be',
  ],
  [
    'has no tasks where there should be some',
    (content) => {
      eventIn(content, 'tasks.set').tasks = 7;
    },
    'tasks.set.tasks is no list',
  ],
  [
    'has an unknown event in the middle',
    (content) => {
      content.batches.splice(1, 0, { now: 1, events: [{ type: 'nothing' } as never] });
    },
    "unknown event 'nothing'",
  ],
])('a run that %s is refused', (_, spoil, words) => {
  const content = honest();
  spoil(content);
  const tree = sealed(content);
  let thrown: unknown;
  try {
    verifyRun(run, tree);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'bad_history', message: expect.stringContaining(words) });
});

test('a run that is nested too deeply is refused', () => {
  const { journal, ...rest } = sealed(honest());
  const [first = '', ...lines] = Buffer.from(journal).toString().split('\n').filter(Boolean);
  const deep = `${'{"x":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const body = first.replace('"events":[{', `"events":[{"deep":${deep},`).replace(/,"sum":"\w+"\}$/, '');
  const sum = hash('sha256', body, 'hex').slice(0, 32);
  const bytes = Buffer.from([`${body},"sum":"${sum}"}`, ...lines].join('\n'));
  const refused = expect.objectContaining({ code: 'bad_history' });
  expect(() => verifyRun(run, { ...rest, journal: bytes })).toThrow(refused);
  expect(() => verifyRun(run, { ...rest, journal: bytes.subarray(0, bytes.indexOf('\n') + 1) })).toThrow(
    refused,
  );
});
