import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../src/cli/index.ts';
import { createFakeIo } from '../src/testing/fake-io.ts';
import type { TestProject } from '../src/testing/index.ts';
import { exampleDirectory, playAgain, playExample, testFile } from './kit/example-workflow.ts';
import { xmlProblems } from './kit/xml.ts';

const files = readdirSync(exampleDirectory);
const inputs: Record<string, readonly string[]> = { 'release.yaml': ['--input', 'version=1.2.0'] };

async function stepfast(...args: string[]): Promise<string> {
  const { io, stdout, stderr } = createFakeIo({ cwd: exampleDirectory });
  expect(await run(args, io), stderr()).toBe(0);
  return stdout();
}

describe.each(files)('%s', (file) => {
  test('has no errors and no warnings', async () => {
    const { files: found } = JSON.parse(await stepfast('validate', `./${file}`, '--json'));
    expect(found).toMatchObject([{ valid: true, diagnostics: [] }]);
    expect(readFileSync(join(exampleDirectory, file), 'utf8')).toMatch(/^# .+\n/);
  });

  test('is drawn as a tree and as a picture', async () => {
    const [tree, svg] = await Promise.all([
      stepfast('graph', `./${file}`),
      stepfast('graph', `./${file}`, '--format', 'svg'),
    ]);
    expect(tree.trim().split('\n').length).toBeGreaterThan(3);
    expect(svg).toMatch(/^<svg /);
    expect(xmlProblems(svg)).toEqual([]);
  });

  test('is simulated to its end', async () => {
    const { status } = JSON.parse(await stepfast('dry-run', `./${file}`, ...(inputs[file] ?? []), '--json'));
    expect(status).toBe('complete');
  });
});

test('there are ten', () => {
  expect(files).toHaveLength(10);
});

let project: TestProject | undefined;
afterEach(() => {
  project?.[Symbol.dispose]();
  project = undefined;
});

test('spec-to-security-review.yaml: a person pivots, and the second specification is built and approved', async () => {
  const served = (guard: string) => `export const read = (path) => ${guard}'the file ' + path;\n`;
  let verdicts = 0;
  const played = await playExample(
    'spec-to-security-review.yaml',
    {},
    {
      workflow: 'spec-to-security-review',
      start: ['--input', 'request=Serve files'],
      work: {
        spec: ({ attempt, status, write }) => {
          // The first one forgets what the gate asks for; the third answers the pivot.
          const threats = attempt === 1 ? '' : '## Threats\n';
          const answer = status.feedback === undefined ? '' : 'Paths with .. are refused.\n';
          write({ 'docs/spec.md': `# Files\n${threats}${answer}` });
          return `specified ${attempt}`;
        },
        build: ({ read, write }) => {
          const guarded = read('docs/spec.md').includes('..');
          write({
            'serve.mjs': served(guarded ? "path.includes('..') ? undefined : " : ''),
            'serve.test.mjs': testFile(
              "import { read } from './serve.mjs';",
              "assert.equal(read('a'), 'the file a')",
              ...(guarded ? ["assert.equal(read('../a'), undefined)"] : []),
            ),
          });
          return `built ${guarded}`;
        },
        security: ({ attempt }) => (attempt === 1 ? 'pivot: paths lead out' : 'approve'),
        hand_over: () => 'handed over',
      },
      decide: () => {
        verdicts += 1;
        return verdicts === 1 ? ['review', 'pivot', '--feedback', 'Paths lead out'] : ['approve'];
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['spec', 'build', 'spec', 'build', 'security', 'hand_over'],
    reds: 1,
    pivots: [{ from: 'security', to: 'spec' }],
  });
});

test('docs-ralph.yaml: rounds go on until the check holds', async () => {
  const check = `import { readdirSync, readFileSync } from 'node:fs';
const open = readdirSync('docs').filter((page) => readFileSync('docs/' + page, 'utf8').includes('TODO'));
console.log(open.join(' '));
process.exitCode = open.length > 0 ? 1 : 0;
`;
  const pages = ['docs/a.md', 'docs/b.md', 'docs/c.md'];
  const played = await playExample(
    'docs-ralph.yaml',
    { 'scripts/check-docs.mjs': check, ...Object.fromEntries(pages.map((page) => [page, 'TODO\n'])) },
    {
      workflow: 'docs-ralph',
      work: {
        write: ({ status, write }) => {
          const page = pages[(status.ralphIteration ?? 0) - 1] ?? '';
          write({ [page]: 'Use it like this.\n' });
          return `wrote ${page}`;
        },
        tell: ({ write }) => {
          write({ 'CHANGELOG.md': '- Three pages.\n' });
          return 'told';
        },
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['write/1', 'write/2', 'write/3', 'tell'],
    reds: 0,
  });
});

test('incident.yaml: what stays red once is tried again, and the test is seen red before the fix', async () => {
  const played = await playExample(
    'incident.yaml',
    {
      'limit.mjs': 'export const limit = () => 0;\n',
      'flags.json': '{}',
      'scripts/snapshot.mjs': "console.log(JSON.stringify({ flags: 'off' }));\n",
      'scripts/health.mjs': `import { readFileSync } from 'node:fs';
import { limit } from '../limit.mjs';
process.exitCode = JSON.parse(readFileSync('flags.json', 'utf8')).closed || limit() > 0 ? 0 : 1;
`,
    },
    {
      workflow: 'incident',
      start: ['--input', 'alert=All requests are refused'],
      work: {
        mitigate: ({ attempt, write }) => {
          write({ 'flags.json': JSON.stringify(attempt === 1 ? { slow: true } : { closed: true }) });
          return `mitigated ${attempt}`;
        },
        cause: () => 'limit.mjs:1 is 0',
        test: ({ write }) => {
          write({
            'limit.test.mjs': testFile("import { limit } from './limit.mjs';", 'assert.equal(limit(), 100)'),
          });
          return 'a test';
        },
        fix: ({ attempt, write }) => {
          write({
            'limit.mjs': `export const limit = () => ${attempt === 1 ? 10 : 100};\n`,
            'flags.json': '{}',
          });
          return `fixed ${attempt}`;
        },
        report: ({ write }) => {
          write({ 'docs/postmortem.md': '# No blame\n' });
          return 'reported';
        },
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['snapshot', 'mitigate', 'cause', 'test', 'fix', 'report'],
    reds: 2,
  });
});

test('release.yaml: the notes are approved before the engine tags and publishes', async () => {
  const played = await playExample(
    'release.yaml',
    {
      'package.json': '{ "name": "thing", "version": "1.1.0" }\n',
      'thing.test.mjs': testFile('', 'assert.ok(true)'),
      'scripts/publish.mjs': `import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
const [version] = process.argv.slice(2);
execFileSync('git', ['rev-parse', 'v' + version]);
appendFileSync(process.env.HOME + '/published', version + '\\n');
console.log('published ' + version);
`,
    },
    {
      workflow: 'release',
      start: ['--input', 'version=1.2.0'],
      work: {
        notes: ({ attempt, write, git }) => {
          write({ 'CHANGELOG.md': '## 1.2.0\n\n- More\n' });
          // At first the version is forgotten.
          if (attempt > 1) write({ 'package.json': '{ "name": "thing", "version": "1.2.0" }\n' });
          git('add', '-A');
          git('commit', '-q', '-m', `notes ${attempt}`);
          return `noted ${attempt}`;
        },
        announce: ({ status }) => `announced: ${status.instructions?.includes('published 1.2.0')}`,
      },
    },
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['check', 'commits', 'notes', 'tag', 'publish', 'announce'],
    reds: 1,
  });
  expect(readFileSync(join(project.home, 'published'), 'utf8')).toBe('1.2.0\n');
  expect(project.git('tag').trim()).toBe('v1.2.0');
});

test('backfill.yaml: the rows are written once, and a second run finds nothing to write', async () => {
  const report = {
    workflow: 'backfill',
    work: {
      plan: () => 'two rows',
      report: ({ write }: { write(files: Record<string, string>): void }) => {
        write({ 'docs/backfill.md': '# Two rows\n' });
        return 'reported';
      },
    },
  };
  const played = await playExample(
    'backfill.yaml',
    {
      'rows.json': JSON.stringify([{ id: 1 }, { id: 2, owner: 'a' }, { id: 3 }]),
      'scripts/backfill.mjs': `import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
const [what, option, value] = process.argv.slice(2);
const rows = JSON.parse(readFileSync('rows.json', 'utf8'));
const missing = rows.filter(({ owner }) => owner === undefined);
const before = () => JSON.parse(readFileSync(value, 'utf8')).count.missing;
appendFileSync(process.env.HOME + '/commands', what + '\\n');
if (what === 'count') console.log(JSON.stringify({ missing: missing.length }));
if (what === 'backup') copyFileSync('rows.json', 'rows.json.bak');
if (what === 'write') {
  for (const row of missing.slice(0, Number(value))) row.owner = 'nobody';
  writeFileSync('rows.json', JSON.stringify(rows));
  console.log(JSON.stringify({ written: missing.length }));
}
if (what === 'verify') {
  console.log(JSON.stringify({ before: before(), missing: missing.length, option }));
  process.exitCode = missing.length === 0 ? 0 : 1;
}
`,
    },
    report,
  );
  ({ project } = played);
  expect(played).toMatchObject({
    status: 'complete',
    completed: ['count', 'plan', 'backup', 'write', 'verify', 'report'],
    skipped: [],
    reds: 0,
  });
  const commands = () => readFileSync(join(played.project.home, 'commands'), 'utf8').trim().split('\n');
  expect(commands()).toEqual(['count', 'backup', 'write', 'verify']);
  expect(await playAgain(project, report)).toMatchObject({
    status: 'complete',
    completed: ['count', 'verify', 'report'],
    skipped: ['plan', 'backup', 'write'],
  });
  expect(commands().slice(4)).toEqual(['count', 'verify']);
});
