import { afterEach, describe, expect, it } from 'vitest';
import { contextOf, lastUser, mainTurn, reply, summariser } from '../../../src/testing/index.ts';
import { createOpenCodeLab, type OpenCodeLab, type OpenCodeServer } from '../../kit/opencode.ts';

const gated = (more = '') => `name: w
description: Plans
stop: check
${more}steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, gate: [{ run: "test -e plan.md" }] }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`;

let lab: OpenCodeLab;
let server: OpenCodeServer;
afterEach(async () => await lab[Symbol.asyncDispose]());

const waits = { timeout: 60_000 };
const call = (name: string, input: Record<string, unknown> = {}) => reply.tool(`stepfast_${name}`, input);
const bash = (command: string) => reply.tool('bash', { command, description: 'Run' });
const main = () => lab.model.requestsOf('main');
const seen = (index: number): string => contextOf(main().at(index) ?? expect.unreachable());
const yes = () => reply.text('Yes.');

async function open(text: string, more: Record<string, string> = {}): Promise<string> {
  lab = await createOpenCodeLab({ '.stepfast/workflows/w.yaml': text, ...more });
  lab.project.trust('w');
  server = await lab.serve();
  return await server.newSession();
}

describe('stop: check', () => {
  it('[pain 13] a red gate continues the turn with what failed, a green one brings the next step', async () => {
    const session = await open(gated());
    lab.model.on(
      lastUser(/go/),
      call('workflow_start', { workflow: 'w' }),
      bash('touch other.md'),
      reply.text('All done.'),
    );
    lab.model.on(lastUser(/test -e plan\.md/), bash('touch plan.md'), reply.text('Now it is there.'));
    lab.model.always(lastUser(/INSTRUCTIONS-BUILD/), () => reply.text('Which color?'));
    await server.prompt(session, 'go');
    await expect.poll(() => seen(-1), waits).toContain('INSTRUCTIONS-BUILD');
    const { state, events } = await lab.project.onlyRun();
    expect(await events('gates.finished')).toMatchObject([{ pass: false }, { pass: true }]);
    expect((await state()).step).toBe('build');
  });

  it('[P1/6] an agent that never calls a tool is not held without end', async () => {
    const session = await open(gated());
    lab.model.on(lastUser(/go/), call('workflow_start', { workflow: 'w' }), bash('ls'), reply.text('Done.'));
    lab.model.always(mainTurn(), yes);
    await server.prompt(session, 'go');
    const { events } = await lab.project.onlyRun();
    await expect.poll(async () => (await events('stop.held')).length, waits).toBe(3);
    await expect.poll(async () => (await events('gates.finished')).length, waits).toBe(4);
    const count = main().length;
    await server.prompt(session, 'a question');
    expect(main()).toHaveLength(count + 1);
  });

  it('what the person has stopped is never started again', async () => {
    const session = await open(gated());
    lab.model.on(
      lastUser(/go/),
      call('workflow_start', { workflow: 'w' }),
      bash('touch other.md'),
      () => new Promise<never>(() => {}),
    );
    lab.model.always(mainTurn(), yes);
    const turn = server.prompt(session, 'go').catch(() => {});
    await expect.poll(() => main().length, waits).toBe(3);
    await server.request('POST', `/session/${session}/abort`);
    await turn;
    // A turn that was not stopped is checked: then its hooks have run as well.
    await server.prompt(session, 'a question');
    expect(main()).toHaveLength(4);
    const { events } = await lab.project.onlyRun();
    expect(await events('gates.finished')).toEqual([]);
  });
});

describe('typed in the session', () => {
  it('a command starts a run, and its briefing is in the first request', async () => {
    const session = await open(gated());
    lab.model.always(mainTurn(), yes);
    await server.command(session, 'start w');
    expect(seen(0)).toContain('INSTRUCTIONS-PLAN');
    const { state } = await lab.project.onlyRun();
    expect((await state()).sessions[session]).toMatchObject({ host: 'opencode', witness: 'hooks' });
  });

  it('a decision is not taken: nothing shows that a person typed it', async () => {
    const session = await open(
      'name: w\ndescription: x\nsteps:\n  - { id: plan, type: action, instructions: Plan., review: { by: human } }\n',
    );
    lab.model.on(
      lastUser(/go/),
      call('workflow_start', { workflow: 'w' }),
      call('workflow_advance', { output: 'Planned.' }),
      reply.text('Waiting.'),
    );
    lab.model.always(mainTurn(), yes);
    await server.prompt(session, 'go');
    await server.command(session, 'approve');
    const { state } = await lab.project.onlyRun();
    expect((await state()).status).toBe('waiting');
  });
});

describe('briefings', () => {
  it('[pain 6] one that is too long arrives within the limit, as a whole', async () => {
    const long = Array.from({ length: 3_000 }, (_, n) => `word${n}`).join(' ');
    const session = await open(gated().replace('INSTRUCTIONS-PLAN', `INSTRUCTIONS-PLAN ${long}`));
    lab.model.always(mainTurn(), yes);
    await server.command(session, 'start w');
    await server.prompt(session, 'more');
    expect(seen(0)).toContain('workflow_context');
    expect(seen(0)).not.toContain('word2999');
    const { state } = await lab.project.onlyRun();
    expect((await state()).briefings[session]?.proven).toBe('transcript');
  });
});

it('[U10] a budget counts the tokens, the turns and the cost that the host reports', async () => {
  const session = await open(gated('budget: { turns: 50, tokens: 10000000, cost: 100 }\n'));
  lab.model.on(lastUser(/go/), call('workflow_start', { workflow: 'w' }), bash('ls'), reply.text('Really?'));
  lab.model.always(mainTurn(), () => reply.text('Right?'));
  await server.prompt(session, 'go');
  await server.prompt(session, 'more');
  const { state } = await lab.project.onlyRun();
  await expect.poll(async () => (await state()).budget.turns, waits).toBe(2);
  const { tokens, cost } = (await state()).budget;
  expect(tokens).toBeGreaterThan(10_000);
  expect(cost).toBeGreaterThan(0.03);
});

it('[P1/1] a compaction that the run asks for is performed by the plugin, and the work goes on', async () => {
  const session = await open(
    `name: w\ndescription: x\nsteps:\n  - { id: plan, type: action, instructions: Plan. }\n  - { id: build, type: action, context: compact, instructions: INSTRUCTIONS-BUILD }\n`,
  );
  lab.model.on(
    lastUser(/^go/),
    call('workflow_start', { workflow: 'w' }),
    call('workflow_advance', { output: 'Planned.' }),
    reply.text('I need a compaction.'),
  );
  lab.model.always(summariser(), () => reply.text('SUMMARY'));
  lab.model.always(mainTurn(), yes);
  await server.prompt(session, 'go');
  await expect.poll(() => seen(-1), waits).toContain('INSTRUCTIONS-BUILD');
  expect(seen(-1)).toContain('SUMMARY');
  const { state } = await lab.project.onlyRun();
  expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset' });
});
