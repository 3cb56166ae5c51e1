/** Copilot CLI without a person, as the driver uses it: the contract, and a fact of this host alone. */
import { expect, it } from 'vitest';
import { reply } from '../../../src/testing/index.ts';
import { copilotHost } from '../../kit/copilot.ts';
import { createDrivenProject } from '../../kit/driven.ts';
import { drivenSuite } from '../../kit/driven-suite.ts';

drivenSuite(copilotHost);

it('a context that is too long is told apart from trouble with the model service', async () => {
  await using stage = await createDrivenProject({}, copilotHost);
  const message = 'prompt is too long: 200000 tokens > 128000 maximum';
  let isTooLong = true;
  stage.model.always(
    () => true,
    () => (isTooLong ? reply.error(400, 'invalid_request_error', message) : reply.text('Yes.')),
  );
  const session = await stage.open();
  const { failure, lastMessage } = await session.send('go');
  expect(lastMessage).toBe('');
  expect(failure).toMatchObject({ kind: 'limit' });
  expect(stage.events).toContainEqual({ type: 'retry', status: 400 });
  isTooLong = false;
  expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
});
