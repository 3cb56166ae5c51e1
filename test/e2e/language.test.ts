import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Event, State } from '../../src/machine/index.ts';
import { greenNowText } from '../../src/messages/index.ts';
import { createTestProject, type TestFiles, type TestProject } from '../../src/testing/index.ts';
import { atTerminal, playScript, type Script } from '../kit/scripted-agent.ts';
import { startTeam, type Team } from '../kit/server/remote.ts';

/** Every key of the language, in runs of real commands: once on files, once on a team server with PostgreSQL. */
describe.each(['files', 'server'] as const)('a run on %s', (home) => {
  let team: Team | undefined;
  let project: TestProject;
  beforeAll(async () => {
    if (home === 'files') return;
    team = await startTeam();
    process.env.STEPFAST_TEST_URL = team.url;
    process.env.STEPFAST_TEST_TOKEN = team.token('person');
  }, 120_000);
  afterAll(async () => {
    delete process.env.STEPFAST_TEST_URL;
    delete process.env.STEPFAST_TEST_TOKEN;
    await team?.[Symbol.asyncDispose]();
  });
  afterEach(() => project[Symbol.dispose]());

  const create = (workflow: string, files: TestFiles = {}): void => {
    project = createTestProject({
      ...files,
      '.stepfast/.gitignore': 'runs/\nsessions/\nworktrees/\n',
      '.stepfast/workflows/w.yaml': `name: w\ndescription: A row of the table\n${workflow}`,
    });
  };
  const play = async (script: Partial<Script> = {}): Promise<{ state: State; events: Event[] }> => {
    await playScript(project, { workflow: 'w', work: {}, ...script });
    const { engine } = project.runtime();
    const mine = (await engine.runs({ ended: true })).map(({ run }) => run);
    const run = mine.at(-1) ?? '';
    const view = await engine.view(run);
    if (!view) throw new Error('there is no run');
    expect(engine.serverOf?.(run) !== undefined).toBe(home === 'server');
    return { state: view.state, events: (await engine.entries(run)).flatMap(({ events }) => events) };
  };
  const done = ({ outputs }: State): string[] => Object.keys(outputs);
  const textOf = ({ outputs }: State, key: string): unknown => outputs[key]?.text;
  const said = 'said';
  const does = () => said;

  test('[L/title] people read it, and the id stays the address', async () => {
    create('steps: [{ id: a, title: First things first, type: action, instructions: A }]\n');
    project.trust('w');
    await project.run(['start', 'w']);
    expect((await project.run(['status'])).stdout).toContain('First things first');
    const { stdout } = await project.run(['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ step: 'a' });
  });

  test('[L/run] [L/output] [L/schema] commands and agents give JSON that fits, and later steps read it', async () => {
    const schema = '{ type: object, required: [n], properties: { n: { type: integer } } }';
    create(`steps:
  - { id: count, type: run, run: 'echo "{\\"n\\": 3}"', output: json, schema: ${schema} }
  - { id: guess, type: action, instructions: Guess, output: json, schema: ${schema} }
  - { id: sum, type: run, run: cat "$STEPFAST_OUTPUTS", output: json }
  - { id: end, type: action, instructions: End, when: outputs.count.n + outputs.guess.n == 7 }
`);
    const refused: unknown[] = [];
    const { state } = await play({
      work: {
        guess: async ({ run, status }) => {
          for (const output of ['Four.', '{"n":4.5}'])
            refused.push((await run('advance', '--at', status.at ?? '', '--output', output)).code);
          return '{"n":4}';
        },
        end: does,
      },
    });
    expect(refused).toEqual(['bad_output', 'bad_output']);
    expect(done(state)).toEqual(['count', 'guess', 'sum', 'end']);
    expect(JSON.parse(String(textOf(state, 'sum')))).toEqual({ count: { n: 3 }, guess: { n: 4 } });
  });

  test('[L/when] what does not hold is skipped with what it looked at, and an error waits for a person', async () => {
    create(`inputs: { level: { default: minor } }
steps:
  - { id: a, type: action, instructions: A, when: inputs.level == "major" }
  - { id: b, type: action, instructions: B, when: inputs.level }
  - { id: c, type: action, instructions: C, when: 'size(outputs.none.list) > 0' }
`);
    const { state, events } = await play({ work: { b: does }, decide: () => ['cancel', 'enough', '--yes'] });
    expect(done(state)).toEqual(['b']);
    expect(events.filter(({ type }) => type === 'step.skipped')).toMatchObject([
      { step: 'a', values: { 'inputs.level': '"minor"' } },
    ]);
    expect(events.filter(({ type }) => type === 'position.blocked')).toHaveLength(1);
  });

  test.each([
    ['files', '{ files: "src/*.txt" }', ['src/a.txt', 'src/b.txt']],
    ['checklist', '{ checklist: TODO.md, locked: true }', ['Wash', 'Dry']],
    ['json', '{ json: tasks.json, max: 2 }', ['One', 'Two']],
    ['output', '{ output: find.list }', ['Found']],
  ])('[L/tasks] of a loop from %s', async (_, source, titles) => {
    create(
      `steps:
  - { id: find, type: run, run: 'echo "{\\"list\\": [\\"Found\\"]}"', output: json }
  - { id: all, type: loop, tasks: ${source} }
  - { id: end, type: action, instructions: "{tasks.all}", gate: [{ condition: 'tasks.all.all(t, t.status == "done")' }] }
loops: { all: [{ id: do, instructions: "{task.title}" }] }
`,
      {
        'src/a.txt': '',
        'src/b.txt': '',
        'TODO.md': '- [ ] Wash\n- [x] Fold\n- [ ] Dry\n',
        'tasks.json': '["One", { "title": "Two" }]',
      },
    );
    const seen: string[] = [];
    const { state } = await play({
      work: { 'all/do': ({ status }) => String(seen.push(status.task?.title ?? '')), end: does },
    });
    expect({ status: state.status, seen }).toEqual({ status: 'complete', seen: titles });
  });

  test('[L/tasks] fewer than there must be wait for a person, who may leave the loop', async () => {
    create(`steps:
  - { id: all, type: loop, tasks: { files: "none/*" } }
  - { id: end, type: action, instructions: End }
loops: { all: [{ id: do, instructions: Do }] }
`);
    const { state, events } = await play({ work: { end: does } });
    expect(state.status).toBe('complete');
    expect(events.some(({ type }) => type === 'position.blocked')).toBe(true);
  });

  test.each([
    ['skip', 'complete'],
    ['abort', 'failed'],
  ])('[L/on_fail] red gates and failures count together, then %s', async (then, status) => {
    create(`steps:
  - { id: all, type: loop }
  - { id: end, type: action, instructions: End }
loops: { all: [{ id: do, instructions: Do, gate: [{ exists: "{task.id}.txt" }], on_fail: { retry: 2, then: ${then} } }] }
`);
    const { state, events } = await play({
      work: {
        all: async ({ run }) => {
          await run('tasks', 'all', 'Bad', 'Good');
          return undefined;
        },
        'all/do': async ({ status: at, attempt, run, write }) => {
          if (at.task?.title === 'Good') write({ [`${at.task.id}.txt`]: '' });
          else if (attempt === 2) return void (await run('fail', '--at', at.at ?? '', 'no idea'));
          return `attempt ${attempt}`;
        },
        end: does,
      },
    });
    expect(state.status).toBe(status);
    expect(events.filter(({ type }) => type === 'position.failed')).toHaveLength(1);
  });

  test('[L/expect] [L/contains] a test must fail as said before the fix', async () => {
    create(`steps:
  - { id: red, type: action, instructions: Red, gate: [{ run: sh test.sh, expect: fail, contains: wrong sum }] }
  - { id: green, type: action, instructions: Green, gate: [{ run: sh test.sh }] }
`);
    const tests = ['exit 0', 'echo typo; exit 1', 'echo wrong sum; exit 1'];
    const { state, events } = await play({
      work: {
        red: ({ attempt, write }) => {
          write({ 'test.sh': `${tests[attempt - 1]}\n` });
          return `${attempt}`;
        },
        green: ({ write }) => {
          write({ 'test.sh': 'exit 0\n' });
          return said;
        },
      },
    });
    expect(state.status).toBe('complete');
    expect(events.flatMap((event) => (event.type === 'gates.finished' ? event.pass : []))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('[L/baseline] a gate runs before the work, and its receipt says what it was', async () => {
    create(
      `steps:
  - id: fix
    type: action
    instructions: Fix
    attempts: 1
    gate: [{ run: sh test.sh, baseline: true }, { run: sh other.sh, baseline: true }, { run: 'true' }]
  - { id: all, type: loop, parallel: 2 }
  - { id: end, type: action, instructions: End }
loops: { all: [{ id: do, instructions: Do, gate: [{ run: 'test -e "$STEPFAST_TASK_ID.txt"', baseline: true }] }] }
`,
      { 'test.sh': 'exit 1\n', 'other.sh': 'exit 0\n' },
    );
    const seen: unknown[] = [];
    const { state, events } = await play({
      work: {
        fix: ({ status, write }) => {
          seen.push(status.baseline?.map(({ what, pass }) => [what, pass]));
          write({ 'test.sh': 'exit 0\n' });
          return said;
        },
        all: async ({ run }) => {
          await run('tasks', 'all', 'One', 'Two');
          return undefined;
        },
        'all/do': ({ status, attempt, write }) => {
          seen.push([attempt, status.failed_gates?.[0]?.before]);
          if (attempt === 2) write({ [`${status.task?.id}.txt`]: '' });
          return `${attempt}`;
        },
        end: does,
      },
    });
    expect(state.status).toBe('complete');
    expect(seen[0]).toEqual([
      ['sh test.sh', false],
      ['sh other.sh', true],
    ]);
    const rest = seen.slice(1).map(String).sort();
    expect(rest).toEqual(['1,', '1,', '2,fail', '2,fail']);
    const was = (key: string) => state.outputs[key]?.receipts.map((receipt) => receipt.before);
    expect(was('fix')).toEqual(['fail', 'pass', undefined]);
    expect([was('all.task-1.do'), was('all.task-2.do')]).toEqual([['fail'], ['fail']]);
    expect(events.filter(({ type }) => type === 'position.failed')).toEqual([]);
    const { stdout } = await project.run(['status', state.run]);
    expect(stdout).toContain(greenNowText('fail'));
  });

  test.each([
    ['complete', 'complete', false],
    ['wait', 'complete', true],
    ['fail', 'failed', false],
  ])('[L/on_exhausted] %s after the last round', async (word, status, waits) => {
    create(
      `steps: [{ id: r, type: ralph, n: 2, instructions: R, until: [{ exists: never.txt }], on_exhausted: ${word} }]\n`,
    );
    const { state, events } = await play({ work: { r: ({ attempt }) => `round ${attempt}` } });
    expect(state.status).toBe(status);
    expect(events.some(({ type }) => type === 'review.requested')).toBe(waits);
  });

  test('[L/finally] runs after the end and changes nothing', async () => {
    create(`steps: [{ id: a, type: action, instructions: A }]
finally: [{ id: bad, run: exit 3 }, { id: last, run: 'echo "$STEPFAST_STATUS" >> ../ended.txt' }]
`);
    const { state } = await play({ work: { a: does } });
    const file = join(project.root, '../ended.txt');
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe('complete\n');
    const { engine } = project.runtime();
    await expect
      .poll(async () => (await engine.view(state.run))?.state)
      .toMatchObject({ status: 'complete', cleanup: { done: [{ pass: false, exit: 3 }, { pass: true }] } });
  });

  test.each([
    ['{ exists: set-up.txt }', undefined],
    ['{ run: test -e set-up.txt, baseline: true }', 'pass'],
  ])(
    '[L/worktree] each worktree of a task is prepared, and a setup that fails fails the task: %s',
    async (gate, was) => {
      create(
        `worktree: { setup: 'test "$STEPFAST_TASK_ID" != task-2 && cp .env set-up.txt', copy: [.env] }
steps:
  - { id: all, type: loop, parallel: 2 }
  - { id: end, type: action, instructions: End }
loops: { all: [{ id: do, instructions: Do, gate: [${gate}], on_fail: skip }] }
`,
        { '.gitignore': '.env\nset-up.txt\n', '.env': 'SECRET=1\n' },
      );
      const { state } = await play({
        work: {
          all: async ({ run }) => {
            await run('tasks', 'all', 'Good', 'Bad');
            return undefined;
          },
          'all/do': does,
          end: does,
        },
      });
      const tasks = Object.values(state.tasks.all?.byId ?? {}).map(({ title, end }) => [title, end]);
      expect({ status: state.status, tasks }).toEqual({
        status: 'complete',
        tasks: [
          ['Good', 'done'],
          ['Bad', 'failed'],
        ],
      });
      expect(state.outputs['all.task-1.do']?.receipts[0]?.before).toBe(was);
    },
  );

  test('[L/notify] the user is told by the command of the own configuration', async () => {
    create(`notify: [waiting, ended]
steps: [{ id: a, type: action, instructions: A, review: { by: human } }]
`);
    const told = join(project.home, 'told.txt');
    project.write({
      '../home/.config/stepfast/config.yaml': `notify: { command: 'echo "$STEPFAST_EVENT" >> ${told}' }\n`,
    });
    await play({ work: { a: does } });
    await expect
      .poll(() => existsSync(told) && readFileSync(told, 'utf8').trim().split('\n').sort())
      .toEqual(['ended', 'waiting']);
  });

  test('[L/enum] [L/pattern] [L/default] inputs are checked at the start', async () => {
    create(`inputs:
  level: { enum: [minor, major], default: minor }
  ticket: { pattern: '[A-Z]+-\\d+', required: true }
steps: [{ id: a, type: action, instructions: "{input.level} {input.ticket}" }]
`);
    await atTerminal(project, ['validate', 'w']);
    const start = async (...inputs: string[]) => {
      const argv = inputs.flatMap((input) => ['--input', input]);
      return JSON.parse((await project.run(['start', 'w', ...argv, '--json'])).stdout);
    };
    expect(await start('ticket=x')).toMatchObject({ code: 'bad_input' });
    expect(await start('ticket=AB-1', 'level=patch')).toMatchObject({ code: 'bad_input' });
    expect(await start()).toMatchObject({ code: 'bad_input' });
    expect(await start('ticket=AB-1')).toMatchObject({ instructions: 'minor AB-1' });
  });
});
