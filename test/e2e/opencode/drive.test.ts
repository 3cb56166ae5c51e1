/** OpenCode without a person, as the driver uses it: the contract, and a fact of this host alone. */
import { expect, it } from 'vitest';
import { lastUser, mainTurn, reply } from '../../../src/testing/index.ts';
import { createDrivenProject } from '../../kit/driven.ts';
import { drivenSuite } from '../../kit/driven-suite.ts';
import { openCodeHost } from '../../kit/opencode.ts';

drivenSuite(openCodeHost);

it('an error that the host would retry for hours is a failure of the turn', async () => {
  await using stage = await createDrivenProject({}, openCodeHost);
  // The host joins prompts without an answer between them.
  stage.model.always(lastUser(/^go$/), () => reply.error(500, 'api_error', 'Internal server error'));
  stage.model.always(mainTurn(), () => reply.text('Yes.'));
  const session = await stage.open();
  const { failure, lastMessage } = await session.send('go');
  expect(lastMessage).toBe('');
  expect(failure).toMatchObject({ kind: 'model_service', text: expect.any(String) });
  expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
});
