/** S4 and S5: an agent that passes for another, for the engine or for a person. */
import type { Attack } from './attack.ts';
import { type Ground, plain } from './ground.ts';

const person = { actor: { kind: 'person' } };
const reviewed = (review: object): object => ({
  ...plain,
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan.', review },
    { id: 'build', type: 'action', instructions: 'Build.' },
  ],
});
const gated = {
  ...plain,
  steps: [{ id: 'plan', type: 'action', instructions: 'Plan.', gate: [{ exists: 'never' }] }],
};
const send = async (ground: Ground, as: Parameters<Ground['call']>[0], run: string, command: object) =>
  await ground.call(as, 'POST', `/v1/runs/${run}/commands`, { command });

/** A run whose first step waits for the review. */
async function waiting(ground: Ground, review: object): Promise<string> {
  const run = await ground.begin('agent', reviewed(review));
  await send(ground, 'agent', run, { type: 'advance', output: 'x', session: 's1' });
  return run;
}

const stateOf = async ({ call }: Ground, run: string): Promise<string> =>
  (await call('reader', 'GET', `/v1/runs/${run}`)).text;
const checkOf = async (ground: Ground, run: string): Promise<string> =>
  /"checking":\{"id":"([^"]+)"/.exec(await stateOf(ground, run))?.[1] ?? '';

/** A run whose first step has a gate and waits for the review. */
async function checked(ground: Ground, review: object, tree?: string) {
  const [plan, build] = (reviewed(review) as { steps: object[] }).steps;
  const run = await ground.begin('agent', {
    ...plain,
    steps: [{ ...plan, gate: [{ exists: 'README.md' }] }, build],
  });
  await send(ground, 'agent', run, {
    type: 'advance',
    output: 'honest',
    session: 's1',
    ...(tree && { tree }),
  });
  return {
    run,
    receipts: [{ gate: 0, pass: true, ...(tree && { tree }) }],
    check: await checkOf(ground, run),
  };
}

const isPast = async (ground: Ground, run: string): Promise<boolean> =>
  /"step":"build"/.test(await stateOf(ground, run));

export const principalAttacks: readonly Attack[] = [
  {
    id: 'S4',
    what: 'a review of its own work under another session name, without a label',
    async run(ground) {
      const run = await waiting(ground, { by: 'critic' });
      await send(ground, 'agent', run, { type: 'review', verdict: 'approve', session: 's2' });
      const { text } = await ground.call('reader', 'GET', `/v1/runs/${run}/entries`);
      const isLabelled = text.includes('"ownWork":true');
      return {
        got: isLabelled ? 'labelled' : 'not labelled',
        succeeded: (await isPast(ground, run)) && !isLabelled,
      };
    },
  },
  {
    id: 'S4',
    what: 'an independent review by its author',
    async run(ground) {
      const run = await waiting(ground, { by: 'critic', independent: true });
      const { code } = await send(ground, 'agent', run, {
        type: 'review',
        verdict: 'approve',
        session: 's2',
      });
      return { got: `${code}`, succeeded: await isPast(ground, run) };
    },
  },
  {
    id: 'S4',
    what: 'an independent review of what the reviewer put in place of the work',
    async run(ground) {
      const { run, receipts, check } = await checked(ground, { by: 'critic', independent: true });
      const swapped = { type: 'gatesFinished', id: check, receipts, output: 'EVIL' };
      await send(ground, 'rival', run, swapped);
      await send(ground, 'rival', run, { type: 'review', verdict: 'approve', session: 's2' });
      const isSwapped = (await stateOf(ground, run)).includes('EVIL');
      return { got: isSwapped ? 'replaced' : 'kept', succeeded: isSwapped };
    },
  },
  {
    id: 'S4',
    what: 'an independent review by the author of an earlier round',
    async run(ground) {
      const [plan, build] = (reviewed({ by: 'critic', independent: true }) as { steps: object[] }).steps;
      const steps = [{ ...plan, type: 'ralph', n: 2 }, build];
      const run = await ground.begin('agent', { ...plain, steps });
      await send(ground, 'rival', run, { type: 'advance', output: 'all of it', session: 's2' });
      await send(ground, 'agent', run, { type: 'advance', output: 'nothing to add', session: 's1' });
      const verdict = { type: 'review', verdict: 'approve', session: 's2' };
      const { code } = await send(ground, 'rival', run, verdict);
      return { got: `${code}`, succeeded: await isPast(ground, run) };
    },
  },
  {
    id: 'S4',
    what: "gates of a person's approval, answered by an agent",
    async run(ground) {
      const tree = (letter: string): string => `sha256:${letter.repeat(64)}`;
      const { run, receipts, check } = await checked(ground, { by: 'human' }, tree('a'));
      await send(ground, 'runner', run, { type: 'gatesFinished', id: check, receipts, tree: tree('a') });
      const approve = { type: 'review', verdict: 'approve', tree: tree('b'), ...person };
      await send(ground, 'person', run, approve);
      const again = { type: 'gatesFinished', id: await checkOf(ground, run), receipts, tree: tree('b') };
      const { code = 'taken' } = await send(ground, 'rival', run, again);
      return {
        got: `${code}, ${(await isPast(ground, run)) ? 'approved' : 'asked again'}`,
        succeeded: await isPast(ground, run),
      };
    },
  },
  {
    id: 'S4',
    what: 'gates and a driver that an agent keeps from a runner',
    async run(ground) {
      const { run, check: id } = await checked(ground, { by: 'human' });
      const drive = { type: 'drive', change: 'take', process: { pid: 1, machine: 'm' } };
      const start = { type: 'gatesStarted', id, deadline: Date.UTC(2125, 0) };
      await send(ground, 'rival', run, drive);
      await send(ground, 'rival', run, { ...start, runner: { pid: 1, host: 'h' } });
      const codes = [
        (await send(ground, 'runner', run, drive)).code,
        (await send(ground, 'runner', run, { ...start, runner: { pid: 2, host: 'ci' } })).code,
      ];
      return { got: codes.map((code) => code ?? 'taken over').join(', '), succeeded: codes.some(Boolean) };
    },
  },
  {
    id: 'S5',
    what: "a review with what lies on a person's disk, shown as the person's",
    async run(ground) {
      const run = await waiting(ground, { by: 'critic' });
      const actor = { kind: 'agent', name: 'ada' };
      await send(ground, 'login', run, { type: 'review', verdict: 'approve', session: 's2', actor });
      const [, by] = /"reviewed":"([^"]*)"/.exec(await stateOf(ground, run)) ?? [];
      return { got: `by ${by}`, succeeded: by === 'ada' };
    },
  },
  {
    id: 'S4',
    what: 'receipts of gates that never ran, without a label; and a deadline in 2125',
    async run(ground) {
      const run = await ground.begin('agent', gated);
      await send(ground, 'agent', run, { type: 'advance', output: 'x', session: 's1' });
      const id = await checkOf(ground, run);
      const runner = { pid: 1, host: 'h' };
      const deadline = Date.UTC(2125, 0);
      await send(ground, 'agent', run, { type: 'gatesStarted', id, runner, deadline });
      const started = await stateOf(ground, run);
      const until = Number(/"deadline":(\d+)/.exec(started)?.[1] ?? 0);
      const isFar = until > Date.now() + 7 * 86_400_000;
      const receipts = [{ gate: 0, pass: true }];
      await send(ground, 'agent', run, { type: 'gatesFinished', id, runner, receipts });
      const after = (await ground.call('reader', 'GET', `/v1/runs/${run}/entries`)).text;
      const isLabelled = after.includes('"reportedBy":"agent"');
      return {
        got: `${isLabelled ? 'labelled' : 'not labelled'}, deadline ${isFar ? 'taken' : 'clamped'}`,
        succeeded: isFar || !isLabelled,
      };
    },
  },
  {
    id: 'S4',
    what: "another agent's session and its run",
    async run(ground) {
      const run = await ground.begin('agent', plain, { session: 's1' });
      const ended = await send(ground, 'rival', run, {
        type: 'session',
        session: 's1',
        event: { type: 'ended' },
      });
      const advanced = await send(ground, 'rival', run, { type: 'advance', output: 'x', session: 's1' });
      const codes = [ended.code, advanced.code];
      return { got: codes.join(', '), succeeded: codes.some((code) => code !== 'not_yours') };
    },
  },
  {
    id: 'S4',
    what: 'a workflow that an agent began or publishes, offered to others over /mcp',
    async run(ground) {
      await ground.begin('agent', { ...plain, name: 'poisoned' });
      const published = await ground.call('agent', 'POST', '/v1/workflows', { definition: plain });
      const { text } = await ground.call('rival', 'GET', '/v1/workflows');
      const isOffered = text.includes('poisoned');
      return {
        got: `${published.code}, ${isOffered ? 'offered' : 'not offered'}`,
        succeeded: isOffered || published.status === 200,
      };
    },
  },
  {
    id: 'S5',
    what: "an approval by curl with what lies on a person's disk, with a runner's token and an admin's",
    async run(ground) {
      const run = await waiting(ground, { by: 'human' });
      const codes: unknown[] = [];
      for (const as of ['login', 'runner', 'admin', 'invitation'] as const)
        codes.push((await send(ground, as, run, { type: 'review', verdict: 'approve', ...person })).code);
      return { got: codes.join(', '), succeeded: await isPast(ground, run) };
    },
  },
  {
    id: 'S5',
    what: '60 guesses of a passphrase with one token, and 60 from one address',
    async run(ground) {
      const passphrase = 'a guessed passphrase';
      let tried = 0;
      for (let each = 0; each < 60; each += 1) {
        const { code } = await ground.call('rival', 'POST', '/v1/credentials', { passphrase });
        const browser = { project: 'attacked', name: 'admin', passphrase };
        const { code: other } = await ground.call('nobody', 'POST', '/sign-in', browser);
        tried += [code, other].filter((each) => each === 'wrong_passphrase').length;
      }
      return { got: `${tried} of 120 were tried`, succeeded: tried > 2 * (5 + 5) };
    },
  },
  {
    id: 'S5',
    what: '400 sign-ins at once, each for another name',
    async run(ground) {
      const names = Array.from({ length: 400 }, (_, index) => `nobody-${index}`);
      const codes = await Promise.all(
        names.map(
          async (name) =>
            (await ground.call('nobody', 'POST', '/sign-in', { project: 'attacked', name, passphrase: 'x' }))
              .code,
        ),
      );
      const counted = Object.entries(Object.groupBy(codes, (code) => code ?? 'none'));
      return {
        got: counted.map(([code, all]) => `${all?.length} ${code}`).join(', '),
        succeeded: codes.includes(undefined),
      };
    },
  },
];
