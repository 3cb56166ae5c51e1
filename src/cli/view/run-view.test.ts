import { expect, test } from 'vitest';
import { type Command, type Definition, respond, type State, statusOf } from '../../machine/index.ts';
import { nextForPerson } from '../../messages/index.ts';
import { positionText } from '../../runtime/index.ts';
import { createFakeIo } from '../../testing/fake-io.ts';
import { runLines } from './run-view.ts';

const now = Date.UTC(2026, 10, 15);
const definition: Definition = {
  name: 'feat',
  description: 'x',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan it', review: { by: 'human' } },
    { id: 'build', type: 'loop', loop: 'build' },
    { id: 'check', type: 'action', instructions: 'Check', budget: { turns: 2 } },
  ],
  loops: { build: [{ id: 'implement', instructions: 'Do {task.title}' }] },
};
const run = 'feat-20261115-k3f9x2ab';
const start: Command = { type: 'start', now, run, summary: 'Dark mode' };
const person = { actor: { kind: 'person' as const, name: 'ann' } };

type Later<C> = C extends unknown ? Omit<C, 'now'> : never;

function after(...commands: Later<Command>[]): State {
  let state: State | null = null;
  // A distributive Omit loses the link between `type` and the rest.
  for (const command of [start, ...commands.map((each) => ({ ...each, now }) as Command)])
    state = respond(definition, state, command).state;
  if (!state) throw new Error('the run has not started');
  return state;
}

function look(state: State, options: { unicode?: boolean; worker?: boolean } = {}): string {
  const { io } = createFakeIo({ unicode: options.unicode ?? true, now: () => now + 60_000 });
  const [cursor] = Object.values(state.cursors);
  const status = statusOf(definition, state, { cursor });
  return runLines({ definition, state, status, tree: undefined, worker: options.worker ?? false }, io).join(
    '\n',
  );
}

const planned = { type: 'advance', output: 'The plan' } as const;
const approved = { type: 'review', verdict: 'approve', ...person } as const;
const tasks = {
  type: 'setTasks',
  loop: 'build',
  tasks: [
    { id: 'a', title: 'A' },
    { id: 'b', title: 'B' },
  ],
} as const;
const built = { type: 'advance', output: 'built' } as const;

test('a run shows how far it is, what is done and what is next', () => {
  const state = after(
    planned,
    approved,
    { ...tasks, tasks: [...tasks.tasks] },
    { ...built, at: 'k3f9x2ab:build/a/implement#1' },
  );
  const at = 'k3f9x2ab:build/b/implement#1';
  const { say } = nextForPerson({ do: 'work', at, step: 'build', finish: 'advance' });
  expect(look(state)).toBe(`feat-20261115-k3f9x2ab  running  1 min ago
Dark mode

✓ plan  ● build 1/2  ○ check

✓ plan               unverified, 1 min ago, approved by ann
    The plan
✓ build/a/implement  unverified, 1 min ago
    built

where    phase 2/3 build, task 2/2 b: B, implement

next     ${say}`);
  // Only an agent gets the handle and the instructions.
  expect(look(state)).not.toContain(at);
  expect(look(state, { worker: true })).toContain(`at       ${at}`);
  expect(look(state, { worker: true })).toContain('\n  Do B\n');
});

test('without symbols beyond ASCII it shows none', () => {
  const text = look(after(planned), { unicode: false });
  expect(text).toContain('[?] plan  [ ] build  [ ] check');
  expect(text).not.toMatch(/[^\x20-\x7e\n]/);
});

test('a budget names what is used up and how to raise it', () => {
  const state = after(planned, approved, { ...tasks, tasks: [], ...person }, { type: 'spend', turns: 3 });
  const status = statusOf(definition, state, { cursor: Object.values(state.cursors)[0] });
  expect(status.action).toMatchObject({ do: 'wait', for: 'budget', unit: 'turns' });
  expect(positionText(state)).toBe('check waits: budget');
});

test('a terminal steered by a title or an output is not', () => {
  const state = after({ ...planned, output: '\u001b[2J\u202Eevil' }, approved);
  expect(look(state)).toContain('\ufffd[2J\ufffdevil');
});
