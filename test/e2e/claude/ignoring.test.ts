/** An agent that never calls a Stepfast tool, through everything that can happen to its session before the end. */
import { afterEach, describe, expect, it } from 'vitest';
import { checkLeftText, runEndedText } from '../../../src/messages/index.ts';
import {
  allOf,
  type ClaudeProject,
  forgetsAll,
  lastUser,
  reply,
  type StreamEvent,
  summariser,
} from '../../../src/testing/index.ts';
import {
  createCheckedProject,
  edit,
  goWith,
  insists,
  passes,
  release,
  shownIn,
  stateOf,
  told,
  until,
  verdictsOf,
} from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const begin = async (gate: string): Promise<void> => {
  stage = await createCheckedProject({ '.stepfast/workflows/go.yaml': goWith(gate) });
};
const go = '/stepfast:go make it 42';
const proven = (gate: string, caught: number): string =>
  runEndedText({ workflow: 'go', status: 'complete', checks: [gate], caught });

describe('[U3] [U14] in mid-run, after three held stops', () => {
  /** The rest of the run, in the same process or in another one. */
  const ways: [string, (prompts: string[]) => Promise<StreamEvent[]>][] = [
    ['/compact', async (prompts) => await inOneProcess([...prompts, '/compact'])],
    ['/clear', async (prompts) => await inOneProcess([...prompts, '/clear'])],
    [
      'exit and claude -c',
      async (prompts) => {
        await stage.run({ prompts });
        allows();
        return [...(await stage.run({ prompts: ['continue'], args: ['--continue'] })).events];
      },
    ],
  ];

  it.each(ways)(
    '%s: the next session knows the task, the fix is recognized, and the person sees the proven end',
    async (_, play) => {
      await begin(passes);
      insists(stage, edit('43'), reply.text('Done! All tests pass.'));
      stage.model.on(summariser(), forgetsAll());
      const events = await play([go]);
      expect(shownIn(events)).toContain(proven(passes, 4));
      expect(await verdictsOf(stage)).toEqual([false, false, false, false, true]);
      expect(await stateOf(stage)).toMatchObject({ status: 'complete', outputs: { do: { text: 'Fixed.' } } });
    },
  );

  async function inOneProcess(prompts: string[]): Promise<StreamEvent[]> {
    const session = await stage.open();
    for (const prompt of prompts) await session.send(prompt);
    allows();
    const { events } = await session.send('continue');
    await session.close();
    return events;
  }

  /** Only who has the instructions of the step can fix it. The host itself repeats the typed line. */
  function allows(): void {
    stage.model.on(
      allOf(lastUser(/^continue/), told(/In the user's words: make it 42/)),
      edit('42'),
      reply.text('Fixed.'),
    );
  }
});

it('[U3] a gate of 90 s runs in the background and wakes the session, which completes the run', async () => {
  const slow = `grep -q 42 total.txt || { sleep 90; echo not ok 1; exit 1; }`;
  await begin(slow);
  stage.model.on(lastUser(/make it 42/), edit('43'), reply.text('Done! All tests pass.'));
  stage.model.on(told(/not ok 1/), edit('42'), reply.text('Now it is done.'));
  const session = await stage.open();
  const { events } = await session.send(go);
  expect(shownIn(events)).toContain(checkLeftText([slow]));
  await expect.poll(() => shownIn(session.events()), { timeout: 300_000 }).toContain(proven(slow, 1));
  await session.close();
  expect(await verdictsOf(stage)).toEqual([false, true]);
  expect((await stateOf(stage)).status).toBe('complete');
});

it('[U14] a run that a check in the background completes is shown at the next prompt', async () => {
  const slow = `${until}; ${passes}`;
  await begin(slow);
  stage.model.on(lastUser(/make it 42/), edit('42'), reply.text('Done.'));
  stage.model.on(lastUser(/thanks/), reply.text('You are welcome.'));
  const session = await stage.open();
  await session.send(go);
  release(stage);
  await expect.poll(async () => (await stateOf(stage)).status).toBe('complete');
  const { events } = await session.send('thanks');
  await session.close();
  expect(shownIn(events)).toContain(proven(slow, 0));
});
