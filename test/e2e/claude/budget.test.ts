import { expect, it } from 'vitest';
import { lastUser, reply, subagent, toolCall } from '../../../src/testing/index.ts';
import { gate, passes, step, workflow } from '../../kit/checked-workflow.ts';
import { createCheckedProject, stateOf, typed } from './checked-project.ts';

it('A1: a budget of tokens counts those of subagents', async () => {
  const steps = step('do', `${gate(passes)}, budget: { tokens: 5000 }`) + step('end', 'attempts: 1');
  await using stage = await createCheckedProject({ '.stepfast/workflows/w.yaml': workflow(steps) });
  const usage = { input_tokens: 3000, cache_read_input_tokens: 900_000, output_tokens: 10 };
  stage.model.on(
    lastUser(/make it/),
    toolCall.agent('SUB-TASK: look at it.'),
    reply.text('Looked.', { usage }),
  );
  stage.model.on(subagent(/SUB-TASK/), reply.text('It is 41.', { usage }));
  const session = await stage.open();
  await session.send(typed);
  const { budget, told: figures } = await stateOf(stage);
  await session.close();
  expect(Object.values(figures ?? {})).toMatchObject([{ turns: 1 }]);
  expect(budget.tokens).toBeGreaterThan(6000);
  expect(budget.tokens).toBeLessThan(900_000);
  expect(await stateOf(stage)).toMatchObject({ status: 'waiting', budget: { exhausted: 'tokens' } });
});
