import { expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder } from '../../testing/index.ts';
import { runJson, runTable } from './run-table.ts';

const workflow = `name: w
description: x
steps: [{ id: a, type: action, instructions: A }]
`;

test('a run that cannot be displayed is shown as damaged and hides no other', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  await project.run(['start', 'w'], { env: { STEPFAST_AGENT: '1' } });
  const { openRuntime } = await import('../../runtime/index.ts');
  const runtime = openRuntime({
    cwd: project.root,
    home: project.root,
    env: {},
    runner: { program: 'x', args: [] },
  });
  const [whole] = await runtime.engine.runs();
  if (!whole?.state) throw new Error('no run');
  const strange = [
    { workflow: 0 },
    { updatedAt: 1e300, createdAt: 1e300 },
    { cursors: null },
    { summary: {} },
  ];
  // An older version may have imported such a state.
  const runs = strange.map((part, index) => ({
    run: `w-${index}-x`,
    state: { ...whole.state, ...part } as never,
  }));
  const { io } = createFakeIo();
  const text = runTable([...runs, whole], io);
  expect(text).toContain(whole.run);
  expect(text).toContain('stepfast log w-0-x');
  expect(JSON.stringify([...runs, whole].map(runJson))).toContain('damaged');
});
