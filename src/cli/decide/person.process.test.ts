import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { cliProgram } from '../../testing/programs.ts';
import { exit } from '../exit.ts';
import { run } from '../run.ts';
import { openRuntime } from '../run-options.ts';

const workflow = `name: feat
description: x
steps:
  - { id: plan, type: action, instructions: Plan, review: { by: human, on_pivot: plan } }
  - { id: build, type: action, instructions: Build }
`;
const risky =
  'name: risky\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ run: rm -rf build }] }\n';
const env = { PATH: process.env.PATH };
const agents = { ...env, CLAUDECODE: '1' };

async function waiting(): Promise<TestProject> {
  const project = createTestFolder({
    '.stepfast/workflows/feat.yaml': workflow,
    '.stepfast/workflows/risky.yaml': risky,
  });
  await project.run(['start', 'feat'], { env });
  await project.run(['advance', 'planned'], { env });
  return project;
}

const statusOf = async (project: TestProject): Promise<{ status: string; step: string }> =>
  JSON.parse((await project.run(['status', '--json'], { env, terminal: true })).stdout);

const decisions = [
  ['approve'],
  ['reject', 'no'],
  ['review', 'approve'],
  ['review', 'abandon'],
  ['answer', 'x'],
  ['proceed'],
  ['rewind', 'plan'],
  ['trust', 'risky'],
  ['trust', 'risky', '--revoke'],
  ['cancel', 'done', '--yes'],
  ['tasks', '--drop', 'a', '--reason', 'x', '--yes'],
];

test.each(decisions)('[U1] an agent cannot: %s %s', async (...argv) => {
  using project = await waiting();
  const command = argv.filter((word) => word !== undefined);
  const pipe = await project.run([...command, '--json'], { env, input: ['y', 'y'] });
  expect(pipe.code).toBe(exit.no);
  expect(JSON.parse(pipe.stdout)).toMatchObject({
    code: 'person_only',
    message: expect.stringContaining('not a terminal'),
  });
  const marked = await project.run(command, { env: agents, terminal: true, input: ['y'] });
  expect(marked.code).toBe(exit.no);
  expect(marked.stderr).toContain('CLAUDECODE is set');
  expect(await statusOf(project)).toMatchObject({ status: 'waiting', step: 'plan' });
  expect((await project.run(['trust', '--list', '--json'], { env })).stdout).toContain('"trusted": []');
});

test('[U16] a person approves with y, and anything else changes nothing', async () => {
  using project = await waiting();
  for (const input of [['plan'], ['approve'], ['n'], [''], []]) {
    const { code } = await project.run(['approve'], { env, terminal: true, input });
    expect(code).toBe(exit.no);
    expect(await statusOf(project)).toMatchObject({ status: 'waiting', step: 'plan' });
  }
  expect((await project.run(['approve'], { env, terminal: true, input: ['y'] })).code).toBe(exit.ok);
  expect(await statusOf(project)).toMatchObject({ step: 'build' });
});

test('[U16] every decision is one question with yes or no, after what will be done', async () => {
  using project = await waiting();
  const person = { env, terminal: true, input: ['y'] };
  for (const [command, shows] of [
    [['trust', 'risky'], 'rm -rf build'],
    [['hold', 'npm test'], 'npm test'],
    [['reject', 'Name the file'], 'Name the file'],
  ] as const) {
    const { code, stderr } = await project.run([...command], person);
    expect({ code, stderr }).toEqual({ code: exit.ok, stderr: expect.stringContaining(shows) });
    expect(stderr.match(/\[y\/N\]/g)).toHaveLength(1);
  }
  await project.run(['ask', 'Which color?'], { env });
  const answer = await project.run(['answer', 'blue'], person);
  expect(answer).toMatchObject({
    code: exit.ok,
    stderr: expect.stringMatching(/Which color.*blue.*\[y\/N\]/s),
  });
  expect((await project.run(['rewind', 'plan'], person)).code).toBe(exit.ok);
});

test('approving where nothing waits is refused without a question', async () => {
  using project = await waiting();
  await project.run(['approve'], { env, terminal: true, input: ['y'] });
  const { code, stderr } = await project.run(['approve'], { env, terminal: true, input: ['y'] });
  expect(code).toBe(exit.no);
  expect(stderr).toMatch(/^no {4}No position of feat-\S+ waits for a verdict/);
});

test('a blocked position cannot be approved, and the person is not asked', async () => {
  using project = await waiting();
  await project.run(['approve'], { env, terminal: true, input: ['y'] });
  await project.run(['fail', 'The API is gone'], { env });
  const { code, stderr } = await project.run(['approve'], { env, terminal: true, input: ['y'] });
  expect(code).toBe(exit.no);
  expect(stderr).toContain('is blocked');
  expect(stderr).not.toContain('[y/N]');
  const on = await project.run(['reject', 'Use the other one'], { env, terminal: true, input: ['y'] });
  expect(on.code).toBe(exit.ok);
});

test('a verdict counts for what was shown: what has moved on meanwhile is refused', async () => {
  using project = await waiting();
  const fake = createFakeIo({ cwd: project.root, home: project.home, env, terminal: true });
  const line = async (): Promise<string> => {
    await project.run(['reject', 'again'], { env, terminal: true, input: ['y'] });
    await project.run(['advance', 'something else'], { env });
    return 'y';
  };
  const io = { ...fake.io, stdin: { ...fake.io.stdin, line } };
  expect(await run(['approve', '--json'], io)).toBe(exit.no);
  expect(JSON.parse(fake.stdout())).toMatchObject({ code: 'stale_handle' });
  expect(await statusOf(project)).toMatchObject({ status: 'waiting', step: 'plan' });
});

test('trust shows every command and its hash, and lasts until it is revoked', async () => {
  using project = await waiting();
  const trust = await project.run(['trust', 'risky'], { env, terminal: true, input: ['y'] });
  expect(trust.code).toBe(exit.ok);
  expect(trust.stderr).toContain('rm -rf build');
  expect(trust.stderr).toMatch(/sha256:[0-9a-f]{64}/);
  expect((await project.run(['start', 'risky', '--json'], { env })).code).toBe(exit.ok);
  await project.run(['trust', 'risky', '--revoke'], { env, terminal: true });
  const again = await project.run(['start', 'risky', '--summary', 'again', '--json'], { env });
  expect(JSON.parse(again.stdout).code).toBe('untrusted');
});

test('[U11] trust without a name asks about each workflow that is not trusted', async () => {
  using project = await waiting();
  const go = risky.replace('name: risky', 'name: go');
  writeFileSync(join(project.root, '.stepfast/workflows/go.yaml'), go);
  writeFileSync(join(project.root, '.stepfast/workflows/broken.yaml'), 'name: broken\n');
  const trust = async (input: string[]) => {
    const { code, stdout, stderr } = await project.run(['trust', '--json'], { env, terminal: true, input });
    const { workflows } = JSON.parse(stdout) as { workflows: { workflow: string; trusted: boolean }[] };
    return { code, stderr, workflows: workflows.map(({ workflow, trusted }) => [workflow, trusted]) };
  };
  await project.run(['trust', 'go'], { env, terminal: true, input: ['y'] });
  const declined = await trust(['n']);
  expect(declined).toMatchObject({ code: exit.no, workflows: [['risky', false]] });
  expect(declined.stderr).toContain('rm -rf build');
  expect(await trust(['y'])).toMatchObject({ code: exit.ok, workflows: [['risky', true]] });
  expect(await trust([])).toMatchObject({ code: exit.ok, workflows: [] });
});

test('A9: an edit of prose keeps the trust; when commands change, the person sees which', async () => {
  using project = await waiting();
  const file = join(project.root, '.stepfast/workflows/risky.yaml');
  const start = async () => JSON.parse((await project.run(['start', 'risky', '--json'], { env })).stdout);
  await project.run(['trust', 'risky'], { env, terminal: true, input: ['y'] });
  writeFileSync(file, risky.replaceAll(': x', ': In other words'));
  expect(await start()).not.toHaveProperty('code');
  writeFileSync(file, risky.replace('name: risky', 'name: risky2').replace('build', '~'));
  const other = await project.run(['trust', 'risky2'], { env, terminal: true, input: ['n'] });
  expect(other.stderr).not.toMatch(/^[+-]/m);
  writeFileSync(file, risky.replace('build', '~'));
  const again = await project.run(['trust', 'risky'], { env, terminal: true, input: ['y'] });
  expect(again.stderr.match(/^[+-] .*$/gm)).toEqual(['+ rm -rf ~', '- rm -rf build']);
});

test('a session does not approve its own work from its shell, whatever it calls itself', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/r.yaml':
      'name: r\ndescription: x\nagents: { critic: { description: Looks } }\nsteps:\n  - { id: a, type: action, instructions: x, review: { by: critic } }\n  - { id: b, type: action, instructions: x }\n',
  });
  const { io } = createFakeIo({ cwd: project.root, home: project.home, env });
  const runtime = openRuntime(io, {});
  const who = { session: 'host-1', witness: 'hooks' } as const;
  const { reply } = await runtime.start({ workflow: 'r' }, who);
  const at = reply.at ?? '';
  await runtime.call({ type: 'advance', output: 'done', at }, who);
  const review = (more: Record<string, string>, ...options: string[]) =>
    project.run(['review', 'approve', '--json', ...options], { env: { ...agents, ...more } });
  const own = { CLAUDE_CODE_SESSION_ID: 'host-1' };
  for (const refused of [
    await review(own),
    await review(own, '--as', 'critic', '--at', at),
    await review({ ...own, STEPFAST_SESSION: 'another' }, '--as', 'critic'),
  ])
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'own_work' });
  // Who has no name at all may be anybody.
  expect(JSON.parse((await review({})).stdout)).toMatchObject({ code: 'own_work' });
  const other = await review({ CLAUDE_CODE_SESSION_ID: 'host-2' });
  expect(JSON.parse(other.stdout)).toMatchObject({ step: 'b' });
});

test('a person lets pass what a subagent took over', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/r.yaml':
      'name: r\ndescription: x\nboundaries: require\nsteps:\n  - { id: a, type: action, context: clear, instructions: x }\n  - { id: b, type: action, instructions: x }\n',
  });
  const { io } = createFakeIo({ cwd: project.root, home: project.home, env });
  const runtime = openRuntime(io, {});
  const who = { session: 'host-1', witness: 'hooks' } as const;
  const { run: begun = '', reply } = await runtime.start({ workflow: 'r' }, who);
  const at = reply.at ?? '';
  const seen = { type: 'boundary', by: 'subagent', saw: 'new', at } as const;
  await runtime.engine.execute(begun, { ...seen, now: 1, session: 'host-1/s1' });
  const advance = async () => (await runtime.call({ type: 'advance', output: 'done', at }, who)).reply;
  expect(await advance()).toMatchObject({ code: 'boundary_open' });
  const passed = await project.run(['proceed'], { env, terminal: true, input: ['y'] });
  expect(passed.code).toBe(exit.ok);
  expect(await advance()).toMatchObject({ step: 'b' });
});

/** Of util-linux: gives a command a pseudo-terminal. */
const program = 'script';
const hasTerminal = spawnSync(program, ['--version']).status === 0;
const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(CLAUDE|CODEX|GEMINI|OPENCODE|COPILOT|CURSOR|AGENT|AI_AGENT|STEPFAST)/.test(name),
  ),
);

/** The real program on a pseudo-terminal. */
/** What is typed stays open until the command has ended: a terminal hangs up with the end of its input. */
async function atTerminal(
  project: TestProject,
  command: string,
  typed: string,
  more: Record<string, string> = {},
): Promise<{ stdout: string; status: number | null }> {
  const child = spawn(program, ['-qec', `'${process.execPath}' '${cliProgram}' ${command}`, '/dev/null'], {
    cwd: project.root,
    env: { ...clean, ...more, HOME: project.home, XDG_STATE_HOME: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stdin.write(typed);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.destroy();
  return { stdout, status };
}

test.skipIf(!hasTerminal)(
  'on a real terminal a person approves, and an agent with its mark does not',
  async () => {
    using project = await waiting();
    const agent = await atTerminal(project, 'approve', 'y\n', { CLAUDECODE: '1' });
    expect(agent).toMatchObject({ status: exit.no });
    expect(agent.stdout).toContain('CLAUDECODE is set');
    expect(await statusOf(project)).toMatchObject({ step: 'plan' });
    const person = await atTerminal(project, 'approve', 'y\n');
    expect(person.stdout).toContain('Approve plan? [y/N]');
    expect(person).toMatchObject({ status: exit.ok });
    expect(await statusOf(project)).toMatchObject({ step: 'build' });
  },
);

test('a verdict on a run that is not trusted here is refused before the person is asked', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/checked.yaml':
      'name: checked\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, review: { by: human } }\n  - { id: b, type: action, instructions: x, gate: [{ run: "true" }] }\n',
  });
  const terminal = { env, terminal: true, input: ['y'] };
  await project.run(['trust', 'checked'], terminal);
  await project.run(['start', 'checked'], { env });
  await project.run(['advance', 'x'], { env });
  await project.run(['trust', 'checked', '--revoke'], terminal);
  const refused = await project.run(['approve'], terminal);
  expect(refused.code).toBe(exit.no);
  expect(refused.stderr).toMatch(/trust checked/);
  expect(refused.stderr).not.toContain('[y/N]');
  await project.run(['trust', 'checked'], terminal);
  expect((await project.run(['approve'], terminal)).code).toBe(exit.ok);
});
