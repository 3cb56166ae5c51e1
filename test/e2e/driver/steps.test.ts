/** `stepfast run` to the end with a real host. src/driver tests each kind of step. */
import { expect, it } from 'vitest';
import { lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { complete, stageWith } from '../../kit/driver-run.ts';
import { sessionsOf, write } from '../../kit/driver-script.ts';

it('is checked at the end of the turn: red is an attempt and the next prompt, green goes on', async () => {
  await using stage = await stageWith(`steps:
- { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "test -f done.txt || { echo MISSING-DONE; exit 3; }" }] }
- { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
  const { model } = stage;
  model.on(lastUser(/INSTRUCTIONS-BUILD/), reply.text('All done, I promise.'));
  model.on(lastUser(/MISSING-DONE/), write('done.txt'), reply.text('Now it is.'));
  model.on(lastUser(/INSTRUCTIONS-TELL/), reply.text('Told.'));
  // Without a gate, only the agent can say that it is done.
  model.on(lastUser(/INSTRUCTIONS-TELL/), toolCall.advance('Told.'), reply.text('Yes.'));
  await complete(stage);
  expect(await stage.eventsOf('gates.finished')).toMatchObject([
    { pass: false, receipts: [{ exit: 3, role: 'gate' }] },
    { pass: true },
  ]);
  expect((await stage.eventsOf('gates.requested')).map(({ attempt }) => attempt)).toEqual([true, true]);
  const { outputs } = await stage.state();
  expect(outputs).toMatchObject({
    build: { text: 'Now it is.', receipts: [{ pass: true }] },
    tell: { text: 'Told.' },
  });
  // One conversation: nothing asked for a reset.
  expect(sessionsOf(model)).toHaveLength(1);
  expect(await stage.eventsOf('session.started')).toMatchObject([{ witness: 'driver' }]);
});
