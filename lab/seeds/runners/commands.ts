/** Shell commands as printed, in a project that has what they name. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { TestProject } from '../../../src/testing/index.ts';
import { cliProgram } from '../../../src/testing/programs.ts';
import { check, type Seeds } from '../check.ts';

const root = join(import.meta.dirname, '..', '..', '..');

const sh = ({ root: cwd, env }: TestProject, command: string): string =>
  execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8', stdio: 'pipe' });

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** What `git add` commands of the plan name. */
const stagedBy = (seeds: Seeds): string[] =>
  seeds.of('001').flatMap(({ text }) => /^git add ([^-].*)$/.exec(text)?.[1]?.split(' ') ?? []);

export const git = check(
  'run in a project with a live run: stages, commits and shows what it names, nothing of Stepfast',
  async ({ id, text }, seeds) => {
    const files = [...new Set(stagedBy(seeds))].sort();
    const project = seeds.project(Object.fromEntries(files.map((file) => [file, 'before\n'])));
    const started = await project.run(['start', 'go', '--input', 'task=Change it']);
    assert.equal(started.code, 0, started.stderr);
    project.git('add', '-A');
    project.git('commit', '-q', '-m', 'Stepfast');
    if (text.startsWith('git diff')) assert.equal(sh(project, text), '');
    for (const file of files) project.write({ [file]: 'changed\n' });
    await project.run(['note', 'decision', 'Keep it small']);
    // A commit takes what the command before it staged.
    const add = text.startsWith('git commit')
      ? seeds.text(id.replace(/\d+$/, (number) => `${Number(number) - 1}`))
      : text;
    const named = add === 'git add -A' ? files : add.split(' ').slice(2);
    if (text.startsWith('git diff'))
      return assert.deepEqual(lines(sh(project, `${text} --name-only`)), files);
    sh(project, add);
    assert.deepEqual(lines(project.git('diff', '--cached', '--name-only')), named.toSorted());
    if (text === add) return;
    sh(project, text);
    assert.equal(project.git('log', '-1', '--format=%s').trim(), /"(.+)"/.exec(text)?.[1]);
    assert.deepEqual(lines(project.git('show', '--name-only', '--format=')), named.toSorted());
    assert.equal((await (await project.onlyRun()).state()).status, 'running');
  },
);

/** The files of the build that the plan names lead to ours. */
const withBuild = (seeds: Seeds): TestProject =>
  seeds.project({
    'workflows/context-example.yaml': seeds.text('001/block-17'),
    'out/workflow/index.js': `module.exports = require(${JSON.stringify(join(root, 'src', 'index.ts'))});\n`,
    'out/mcp/server.js': `process.argv.splice(1, 1, ${JSON.stringify(cliProgram)}, 'mcp');\nimport(process.argv[1]);\n`,
  });

export const script = check('run as printed; the file that it loads is our package', ({ text }, seeds) => {
  const printed = sh(withBuild(seeds), text);
  assert.match(printed, /context-example/);
  for (const [, step = ''] of seeds.text('001/block-17').matchAll(/^ {2}- id: (\w+)$/gm))
    assert.match(printed, new RegExp(`id: '${step}'`));
});

export const server = check(
  'run as printed; the program is `stepfast mcp`: asks for the context action',
  async ({ text }, seeds) => {
    assert.match(text, /^node out\/mcp\/server\.js /);
    const project = withBuild(seeds);
    const command = text.replaceAll(/\/path\/to\/\S+/g, (path) =>
      path.endsWith('.yaml') ? join(project.root, 'workflows', basename(path)) : project.root,
    );
    const client = new Client({ name: 'seeds', version: '1' });
    const { root: cwd, env } = project;
    await client.connect(
      new StdioClientTransport({ command: 'sh', args: ['-c', `exec ${command}`], cwd, env }),
    );
    try {
      const { structuredContent } = await client.callTool({ name: 'workflow_start', arguments: {} });
      assert.partialDeepStrictEqual(structuredContent, { contextAction: '/clear', step: 'brainstorm' });
    } finally {
      await client.close();
    }
  },
);

export const removes = check(
  'run: a session was briefed on the file before, and none is after',
  async ({ text }, seeds) => {
    const command = text.replaceAll('{workflow-name}', 'removed');
    const folder = /^rm -rf \.\/(\S+)\/$/.exec(command)?.[1] ?? assert.fail('not a command that removes');
    const path = `${folder}/state-${basename(folder)}-20260102_030405.json`;
    const state = { ...JSON.parse(seeds.text('002/block-6')), workflow: 'To be removed' };
    const kit = seeds.hooks({ [path]: JSON.stringify(state) });
    const before = await kit.fire('SessionStart', { source: 'compact' });
    assert.match(before.context, /To be removed/);
    sh(kit.project, command);
    assert.equal(existsSync(join(kit.project.root, path)), false);
    const after = await kit.fire('SessionStart', { session_id: 'b', source: 'compact' });
    assert.doesNotMatch(after.context, /ACTION REQUIRED/);
  },
);
