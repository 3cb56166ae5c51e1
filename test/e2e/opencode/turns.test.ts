import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
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

async function open(text: string): Promise<string> {
  lab = await createOpenCodeLab({ '.stepfast/workflows/w.yaml': text });
  lab.project.trust('w');
  server = await lab.serve();
  return await server.newSession();
}

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

it('[P4/8] an agent cannot use the tools of its list, whichever host named them', async () => {
  const session = await open(`name: w
description: Looks
agents:
  looker: { description: Looks, cannot: [Write] }
steps:
  - { id: look, type: action, agent: looker, instructions: LOOK }
`);
  const filePath = join(lab.project.root, 'made.txt');
  const write = reply.tool('write', { filePath, content: 'FORBIDDEN' });
  lab.model.on(lastUser(/go/), call('workflow_start', { workflow: 'w' }), write, reply.text('Done.'));
  await server.prompt(session, 'go');
  expect(lab.model.left()).toBe(0);
  expect(existsSync(filePath)).toBe(false);
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
  // The summarizer is told what to keep.
  const [summary] = lab.model.requestsOf('summariser');
  expect(summary && contextOf(summary)).toContain(`'w'`);
  const { state } = await lab.project.onlyRun();
  expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset' });
});
