import { afterEach, expect, test } from 'vitest';
import type { TestProject } from '../src/testing/index.ts';
import { playExample, testFile } from './kit/example-workflow.ts';
import type { Desk } from './kit/scripted-agent.ts';

let project: TestProject | undefined;
afterEach(() => {
  project?.[Symbol.dispose]();
  project = undefined;
});

const commit = ({ git }: Desk, message: string): void => {
  git('add', '-A');
  git('commit', '-q', '-m', message);
};

/** Merges the branches of these tasks into the worktree of the run, or all. */
function merge({ status, git }: Desk, isDone: (branch: string) => boolean = () => true): void {
  const branches = git('branch', '--format=%(refname:short)', '--list', `stepfast/${status.run}/*`);
  for (const branch of branches.trim().split('\n').filter(isDone))
    git('merge', '-q', '--no-edit', '-X', 'theirs', branch);
}

test('tdd.yaml: every behavior is seen red, then green', async () => {
  const rules = ["assert.equal(sum(''), 0)", "assert.equal(sum('1,2'), 3)"];
  const code = ['() => 0', "(text) => text.split(',').reduce((all, each) => all + Number(each), 0)"];
  const imports = "import { sum } from './sum.mjs';";
  const index = ({ status }: Desk): number => status.task?.index ?? 0;
  const played = await playExample(
    'tdd.yaml',
    { 'sum.mjs': 'export const sum = () => undefined;\n' },
    {
      workflow: 'tdd',
      start: ['--input', 'goal=The sum of a text'],
      work: {
        behaviors: async ({ run }) => {
          await run('tasks', 'cycle', 'An empty text is 0', 'Numbers are added');
          return 'two behaviors';
        },
        'cycle/red': (desk) => {
          const [first, rule] = [rules.slice(0, index(desk)), rules[index(desk)] ?? ''];
          // The first attempt proves nothing: its test cannot fail.
          const claim = desk.attempt === 1 ? 'assert.ok(true)' : rule;
          desk.write({ 'sum.test.mjs': testFile(imports, ...first, claim) });
          return `red ${index(desk)} ${desk.attempt}`;
        },
        'cycle/green': (desk) => {
          const written = desk.attempt === 1 ? '() => NaN' : code[index(desk)];
          desk.write({ 'sum.mjs': `export const sum = ${written};\n` });
          return `green ${index(desk)} ${desk.attempt}`;
        },
        'cycle/refactor': (desk) => {
          commit(desk, `rule ${index(desk)}`);
          return `refactored ${index(desk)}`;
        },
        done: () => 'done',
      },
    },
  );
  ({ project } = played);
  const cycle = (task: string) => ['red', 'green', 'refactor'].map((id) => `cycle/${task}/${id}`);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['behaviors', ...cycle('task-1'), ...cycle('task-2'), 'done'],
    reds: 4,
    tasks: { 'An empty text is 0': 'done', 'Numbers are added': 'done' },
  });
});

test('migrate-files.yaml: three agents migrate fifteen files, each in its own worktree', async () => {
  const names = Array.from({ length: 15 }, (_, index) => `src/part-${index}.js`);
  const before = (name: string) =>
    `const path = require('node:path');\nmodule.exports = path.posix.basename('${name}');\n`;
  const after = (name: string) =>
    `import path from 'node:path';\nexport default path.posix.basename('${name}');\n`;
  const played = await playExample(
    'migrate-files.yaml',
    {
      ...Object.fromEntries(names.map((name) => [name, before(name)])),
      'package.json': '{ "type": "module" }\n',
      'docs/migration.md': '# How\n',
      'parts.test.js': testFile(
        names.map((name, index) => `import part${index} from './${name}';`).join('\n'),
        ...names.map((_, index) => `assert.equal(part${index}, 'part-${index}.js')`),
      ),
    },
    {
      workflow: 'migrate-files',
      work: {
        'migrate/move': (desk) => {
          const { title = '' } = desk.status.task ?? {};
          // One of them forgets at first what the gate looks for.
          const isForgotten = title === 'src/part-7.js' && desk.attempt === 1;
          desk.write({ [title]: isForgotten ? `${after(title)}// require(\n` : after(title) });
          commit(desk, title);
          return `migrated ${title} ${desk.attempt}`;
        },
        merge: (desk) => {
          // At first a branch is forgotten.
          merge(desk, (branch) => desk.attempt > 1 || !branch.includes('part-13'));
          return `merged ${desk.attempt}`;
        },
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({ status: 'complete', reds: 2, mostHeld: 3 });
  expect(played.tasks).toEqual(Object.fromEntries(names.map((name) => [name, 'done'])));
  expect(played.completed).toHaveLength(16);
});

test('upgrade.yaml: two packages are upgraded, and one that stays red is left out', async () => {
  const packages = [
    { title: 'left', description: 'From 1 to 2.' },
    { title: 'right', description: 'From 1 to 2.' },
    { title: 'broken', description: 'From 1 to 2.' },
  ];
  const titleOf = ({ status }: Desk): string => status.task?.title ?? '';
  const played = await playExample(
    'upgrade.yaml',
    {
      'package.json': '{ "name": "thing", "type": "module", "scripts": { "test": "node --test" } }\n',
      ...Object.fromEntries(packages.map(({ title }) => [`${title}.js`, 'export default 1;\n'])),
      'scripts/outdated.mjs': `const [, level] = process.argv.slice(2);
console.log(JSON.stringify({ level, packages: ${JSON.stringify(packages)} }));
`,
    },
    {
      workflow: 'upgrade',
      start: ['--input', 'level=major'],
      work: {
        'upgrade/reproduce': (desk) => {
          const title = titleOf(desk);
          desk.write({
            [`${title}.test.js`]: testFile(
              `import version from './${title}.js';`,
              'assert.equal(version, 2)',
            ),
          });
          commit(desk, `a test of ${title}`);
          return `reproduced ${title}`;
        },
        'upgrade/apply': (desk) => {
          const title = titleOf(desk);
          const version = title === 'broken' ? 1 : 2;
          desk.write({ [`${title}.js`]: `export default ${version}; // ${desk.attempt}\n` });
          commit(desk, `upgrade of ${title}`);
          return `applied ${title} ${desk.attempt}`;
        },
        report: (desk) => {
          merge(desk, (branch) => !branch.includes('broken'));
          desk.write({ 'UPGRADES.md': '- left, right\n' });
          return 'reported';
        },
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    reds: 2,
    tasks: { left: 'done', right: 'done', broken: 'failed' },
  });
  expect([...played.completed].sort().map((path) => path.replace(/-\w{8}\//, '/'))).toEqual([
    'outdated',
    'report',
    'upgrade/broken/reproduce',
    'upgrade/left/apply',
    'upgrade/left/reproduce',
    'upgrade/right/apply',
    'upgrade/right/reproduce',
  ]);
});

test('checklist.yaml: the open items are the tasks, and a ticked one is none', async () => {
  const list = (...ticked: string[]): string =>
    ['Add a license', 'Add a guide', 'Add a logo']
      .map((item) => `- [${ticked.includes(item) ? 'x' : ' '}] ${item}\n`)
      .join('');
  const ticked = ['Add a logo'];
  const played = await playExample(
    'checklist.yaml',
    { 'docs/checklist.md': list(...ticked), 'a.test.mjs': testFile('', 'assert.ok(true)') },
    {
      workflow: 'checklist',
      work: {
        'items/do': (desk) => {
          const { title = '' } = desk.status.task ?? {};
          ticked.push(title);
          desk.write({ 'docs/checklist.md': list(...ticked) });
          // At first it is only ticked.
          if (desk.attempt > 1) desk.write({ [`${title}.md`]: title });
          return `${title} ${desk.attempt}`;
        },
        'items/commit': (desk) => {
          commit(desk, desk.status.task?.title ?? '');
          return `committed ${desk.status.task?.title}`;
        },
        close: () => 'closed',
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    reds: 2,
    tasks: { 'Add a license': 'done', 'Add a guide': 'done' },
  });
  expect(played.completed).toHaveLength(5);
  expect(project.git('log', '--format=%s').trim().split('\n')).toEqual([
    'Add a guide',
    'Add a license',
    'first',
  ]);
});

test('lanes-feature.yaml: a file of Lanes is found in its place and runs unchanged', async () => {
  const say = (desk: Desk): string => `${desk.status.at}`;
  const work = ['plan', 'polish', 'final_review'].map((step) => [step, say]);
  const subSteps = ['implement', 'test', 'review'].map((id) => [`feature_development/${id}`, say]);
  const played = await playExample(
    'lanes-feature.yaml',
    {},
    {
      workflow: 'lanes-feature',
      work: {
        ...Object.fromEntries([...work, ...subSteps]),
        define_tasks: async ({ run }) => {
          await run('tasks', 'feature_development', 'The form', 'The check');
          return 'two tasks';
        },
      },
    },
    '.lanes/workflows',
  );
  ({ project } = played);
  const of = (task: string) =>
    ['implement', 'test', 'review'].map((id) => `feature_development/${task}/${id}`);
  expect(played).toMatchObject({
    status: 'complete',
    completed: [
      'plan',
      'define_tasks',
      ...of('task-1'),
      ...of('task-2'),
      'polish/1',
      'polish/2',
      'final_review',
    ],
    tasks: { 'The form': 'done', 'The check': 'done' },
  });
});
