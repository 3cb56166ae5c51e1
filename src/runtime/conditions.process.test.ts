import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { type Answer, type AnsweredStatus, isRefused, type LocalRuntime } from './index.ts';

const agent = { session: 's1' };
const person = { actor: { kind: 'person' as const, name: 'ann' } };

let project: TestProject;
let runtime: LocalRuntime;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project[Symbol.dispose]());

function status({ reply }: Answer): AnsweredStatus {
  if (isRefused(reply)) throw new Error(`refused: ${JSON.stringify(reply)}`);
  return reply;
}

async function started(steps: string): Promise<AnsweredStatus> {
  project.write({ '.stepfast/workflows/w.yaml': `name: w\ndescription: x\nsteps:\n${steps}` });
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'workflow');
  project.trust('w');
  runtime = project.runtime();
  return status(await runtime.start({ workflow: 'w' }, agent));
}

const advance = (output: string) => runtime.call({ type: 'advance', output }, agent);
const shown = async (...args: string[]) => (await project.run(args, { terminal: true })).stdout;

test('M7: a gate with an error in its condition waits with the error, for agent and person', async () => {
  await started(
    '  - { id: do, type: action, instructions: Do, gate: [{ condition: "size(state.none) > 0" }] }\n',
  );
  const waiting = { for: 'blocked', by: 'human', reason: expect.stringContaining('size(state.none) > 0') };
  expect(status(await advance('done'))).toMatchObject({ status: 'waiting', waiting });
  expect(await shown('status')).toContain('size(state.none) > 0');
});

test('M7: truthiness, $. and length decide a gate', async () => {
  const condition = '!!$.artifacts.spec_path && state.artifacts.spec_path.length > 0 && outputs.do';
  const { run } = await started(
    `  - { id: do, type: action, instructions: Do, gate: [{ condition: "${condition}" }] }\n`,
  );
  expect(status(await advance('done'))).toMatchObject({ failed_gates: [{ what: condition }] });
  const note = { type: 'note', kind: 'artefact', key: 'spec_path', text: 'docs/spec.md' } as const;
  await runtime.call(note, agent);
  expect(status(await advance('done'))).toMatchObject({ run, status: 'complete' });
});

test('A6: a red until is shown, waits after the last round, and stays unproven once accepted', async () => {
  const { run } = await started(
    '  - { id: polish, type: ralph, n: 2, instructions: Do, until: [{ run: "test -e clean" }] }\n  - { id: end, type: action, instructions: End }\n',
  );
  const red = [{ what: 'test -e clean', role: 'until' }];
  expect(status(await advance('first'))).toMatchObject({ ralphIteration: 2, red_until: red });
  expect(await shown('status')).toContain('test -e clean');
  expect(status(await advance('second'))).toMatchObject({
    status: 'waiting',
    waiting: { for: 'review', by: 'human', exhausted: 'polish' },
    red_until: red,
  });
  expect((await runtime.call({ type: 'review', verdict: 'approve' }, agent)).reply).toMatchObject({
    code: 'person_only',
  });
  await runtime.call({ type: 'review', verdict: 'revise', feedback: 'Once more' }, person);
  expect(status(await advance('third'))).toMatchObject({ status: 'waiting', ralphIteration: 2 });
  await runtime.call({ type: 'review', verdict: 'approve' }, person);
  expect(status(await advance('ended'))).toMatchObject({ status: 'complete' });
  expect(await shown('status', run)).toContain('unproven');
  expect(JSON.parse(await shown('status', run, '--json')).done).toMatchObject([
    { path: 'polish/1' },
    { path: 'polish/2', unproven: true },
    { path: 'end' },
  ]);
  expect(await shown('log', run)).toContain('test -e clean');
});
