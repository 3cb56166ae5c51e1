import { expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';
import { run } from '../run.ts';
import { openRuntime } from '../run-options.ts';

const env = { PATH: process.env.PATH };
const workflow =
  'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, budget: { turns: 1 }, review: { by: human } }\n';

async function usedUp(): Promise<{ project: TestProject; spend(turns: number): Promise<void> }> {
  const project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  await project.run(['start', 'w'], { env });
  const { io } = createFakeIo({ cwd: project.root, home: project.home, env });
  const spend = async (turns: number): Promise<void> =>
    void (await openRuntime(io, {}).call({ type: 'spend', turns }, {}));
  await spend(2);
  return { project, spend };
}

const more = ['review', 'approve', '--turns', '10'];

test('only a person raises a budget, by an amount and a word', async () => {
  const { project } = await usedUp();
  using here = project;
  const agent = await here.run([...more, '--json'], { env });
  expect(JSON.parse(agent.stdout)).toMatchObject({ code: 'person_only' });
  const without = await here.run(['approve'], { env, terminal: true, input: ['y'] });
  expect(without.code).toBe(exit.no);
  expect(without.stderr).toContain('stepfast review approve --turns 20');
  const person = await here.run(more, { env, terminal: true, input: ['y'] });
  expect(person.code).toBe(exit.ok);
  expect(person.stderr).toContain('Give a 10 more turns?');
});

test('dollars may have decimals, other amounts and zero may not', async () => {
  const { project } = await usedUp();
  using here = project;
  const review = async (...amounts: string[]): Promise<number> =>
    (await here.run(['review', 'approve', ...amounts], { env, terminal: true, input: ['n'] })).code;
  for (const bad of ['0', '0.00', '.5', '1.', '-1', '1e3', '1,5'])
    expect([bad, await review('--cost', bad)]).toEqual([bad, exit.usage]);
  expect(await review('--turns', '0.5')).toBe(exit.usage);
  for (const good of ['5', '0.5', '12.25']) expect(await review('--cost', good)).toBe(exit.no);
});

test('an amount that was typed for a budget never approves a review that came meanwhile', async () => {
  const { project } = await usedUp();
  using here = project;
  const fake = createFakeIo({ cwd: here.root, home: here.home, env, terminal: true });
  const line = async (): Promise<string> => {
    await here.run(more, { env, terminal: true, input: ['y'] });
    await here.run(['advance', 'done'], { env });
    return 'y';
  };
  expect(await run(more, { ...fake.io, stdin: { ...fake.io.stdin, line } })).toBe(exit.no);
  expect(fake.stderr()).toContain('has changed');
  const { stdout } = await here.run(['status', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'waiting', waiting: { for: 'review' } });
});
