import { expect, test } from 'vitest';
import { createHookKit } from '../../test/kit/hooks.ts';

const workflow = `name: w
description: Looks, then builds
steps:
  - { id: look, type: action, instructions: Look. }
  - { id: build, type: action, instructions: Build., budget: { tokens: 100 } }
`;

test('[A1] what was spent before an advance counts for the step that was left', async () => {
  using kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  const first = await kit.start();
  await kit.called('a', first);
  const says = (id: string, tokens: number): void =>
    kit.writeDown({
      type: 'assistant',
      timestamp: new Date(Date.now() + 1000).toISOString(),
      message: { id, model: 'claude', usage: { input_tokens: tokens, output_tokens: 0 } },
    });
  says('m1', 5000);
  const at = await kit.call(first.run, { type: 'advance', output: 'Looked.', at: first.at });
  await kit.called('a', { run: first.run, at });
  const state = async () => (await kit.runtime.engine.view(first.run))?.state;
  expect(await state()).toMatchObject({ step: 'build', status: 'running', budget: { tokens: 0 } });
  says('m2', 150);
  await kit.called('a', { run: first.run, at });
  expect(await state()).toMatchObject({ status: 'waiting', budget: { tokens: 150, exhausted: 'tokens' } });
});
