import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse } from 'yaml';
import type { TestProject } from '../../../src/testing/index.ts';
import { cliProgram } from '../../../src/testing/programs.ts';
import type { Runner, Seeds } from '../row.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const example = 'workflows/context-example.yaml';

/** The files that the plan stages, in a project where a run is under way. */
async function projectUnderWay(seeds: Seeds): Promise<TestProject> {
  const project = seeds.project();
  const { code } = await project.run(['start', 'go', '--input', 'task=Change it']);
  assert.equal(code, 0);
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'Stepfast');
  for (const file of stagedBy(seeds)) project.write({ [file]: `export const changed = '${file}';\n` });
  return project;
}

const stagedBy = (seeds: Seeds): string[] =>
  seeds.of('001').flatMap(({ text }) => /^git add ([^-].*)$/.exec(text)?.[1]?.split(' ') ?? []);

const sh = (project: TestProject, command: string): string =>
  execFileSync('sh', ['-c', command], {
    cwd: project.root,
    env: project.env,
    encoding: 'utf8',
    stdio: 'pipe',
  });

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Stages exactly what it names, and nothing of the run. */
export const stages: Runner = async ({ text }, seeds) => {
  const project = await projectUnderWay(seeds);
  assert.match(text, /^git add /);
  sh(project, text);
  const named = text === 'git add -A' ? stagedBy(seeds) : text.split(' ').slice(2);
  assert.deepEqual(lines(project.git('diff', '--cached', '--name-only')), [...new Set(named)].sort());
};

/** Commits what the command before it staged; the run goes on. */
export const commits: Runner = async ({ id, text }, seeds) => {
  const project = await projectUnderWay(seeds);
  const before = seeds.sample(id.replace(/\d+$/, (number) => `${Number(number) - 1}`));
  sh(project, before.text);
  const staged = project.git('diff', '--cached', '--name-only');
  sh(project, text);
  assert.equal(project.git('log', '-1', '--format=%s').trim(), /"(.+)"/.exec(text)?.[1]);
  assert.equal(project.git('show', '--name-only', '--format='), staged);
  assert.equal((await (await project.onlyRun()).state()).status, 'running');
};

/** Shows the change and nothing that Stepfast writes. */
export const showsChanges: Runner = async ({ text }, seeds) => {
  const project = await projectUnderWay(seeds);
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'all');
  assert.equal(sh(project, text), '');
  const [file = ''] = stagedBy(seeds);
  project.write({ [file]: 'changed\n' });
  await project.run(['note', 'decision', 'Keep it small']);
  assert.deepEqual(lines(sh(project, `${text} --name-only`)), [file]);
};

/** The files of the build that the plan names lead to ours. */
function projectWithBuild(seeds: Seeds): TestProject {
  return seeds.project({
    [example]: seeds.sample('001/block-17').text,
    'out/workflow/index.js': `module.exports = require(${JSON.stringify(join(root, 'src', 'index.ts'))});\n`,
    'out/mcp/server.js': `process.argv.splice(1, 1, ${JSON.stringify(cliProgram)}, 'mcp');\nimport(process.argv[1]);\n`,
  });
}

/** The script loads the example with our package and prints its steps. */
export const scriptLoads: Runner = (sample, seeds) => {
  const project = projectWithBuild(seeds);
  const printed = sh(project, sample.text);
  assert.match(printed, /context-example/);
  for (const [, step = ''] of seeds.sample('001/block-17').text.matchAll(/^ {2}- id: (\w+)$/gm))
    assert.match(printed, new RegExp(`id: '${step}'`));
};

/** The command starts our server, which asks for the first step's context action. */
export const serverStarts: Runner = async ({ text }, seeds) => {
  const project = projectWithBuild(seeds);
  assert.match(text, /^node out\/mcp\/server\.js /);
  const command = text.replaceAll(/\/path\/to\/\S+/g, (path) =>
    path.endsWith('.yaml') ? join(project.root, 'workflows', basename(path)) : project.root,
  );
  const client = new Client({ name: 'seeds', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: 'sh',
      args: ['-c', `exec ${command}`],
      cwd: project.root,
      env: project.env,
    }),
  );
  try {
    const { structuredContent } = await client.callTool({ name: 'workflow_start', arguments: {} });
    assert.partialDeepStrictEqual(structuredContent, { contextAction: '/clear', step: 'brainstorm' });
  } finally {
    await client.close();
  }
};

/** Removes a state file that a session was briefed on: no later session is. */
export const removesState: Runner = async ({ text }, seeds) => {
  const folder = /^rm -rf \.\/(\S+)\/$/.exec(text)?.[1] ?? assert.fail('not the command that is expected');
  const kit = seeds.hooks();
  const [command, place] = [text, folder].map((each) => each.replaceAll('{workflow-name}', 'removed')) as [
    string,
    string,
  ];
  const path = `${place}/state-${basename(place)}-20260102_030405.json`;
  const state = { ...JSON.parse(seeds.sample('002/block-6').text), workflow: 'To be removed' };
  kit.project.write({ [path]: JSON.stringify(state) });
  const before = await kit.fire('SessionStart', { source: 'compact' });
  assert.match(before.context, /To be removed/);
  sh(kit.project, command);
  assert.equal(existsSync(join(kit.project.root, path)), false);
  const after = await kit.fire('SessionStart', { session_id: 'b', source: 'compact' });
  assert.doesNotMatch(after.context, /ACTION REQUIRED/);
};

/** The package has the workflow in this place: the same steps with the same context actions. */
export const shipped: Runner = ({ text }, seeds) => {
  const shape = (yaml: string): unknown => {
    const { name, steps, loops } = parse(yaml);
    const context = (each: { id: string; context?: string }): unknown => [each.id, each.context ?? null];
    return [name, steps.map(context), Object.entries<[]>(loops).map(([id, all]) => [id, all.map(context)])];
  };
  const ours = readFileSync(join(root, text), 'utf8');
  assert.deepEqual(shape(ours), shape(seeds.sample('001/block-17').text));
};

/** A workflow file that is named by its absolute path starts. */
export const startsByPath: Runner = async ({ text }, seeds) => {
  const project = seeds.project();
  assert.match(text, /^\/.+\.yaml$/);
  const file = join(project.root, '..', basename(text));
  writeFileSync(file, seeds.sample('001/block-17').text);
  const started = await project.run(['start', file]);
  assert.equal(started.code, 0, started.stderr);
  assert.equal((await (await project.onlyRun()).state()).step, 'brainstorm');
};
