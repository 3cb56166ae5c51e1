/** Critical artifacts, priming and portability of 004. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import type { TestProject } from '../../../src/testing/index.ts';
import type { Runner, Seeds } from '../row.ts';
import { follow } from './follow.ts';
import { callOurs } from './handlers.ts';

const root = join(import.meta.dirname, '..', '..', '..');

interface Configuration {
  critical_artifacts: Record<'always_load' | 'conditional_load', Record<string, unknown>[]>;
}

const configurationOf = (seeds: Seeds): Configuration => JSON.parse(seeds.sample('004/block-2').text);
const schemaOf = (name: string) => JSON.parse(readFileSync(join(root, 'schema', name), 'utf8'));

const steps = ['frame', 'architect', 'build'].map((id) => ({
  id,
  type: 'action',
  instructions: `Do the phase ${id}.`,
}));

/** A project with the printed configuration in its place, a workflow that extends it, and the files that it names. */
function projectWith(seeds: Seeds, configuration: string, path: string): TestProject {
  const workflow = {
    name: 'faber',
    description: 'Faber',
    extends: `../../${path}`,
    variables: { plan_id: 'p1' },
    steps,
  };
  const { critical_artifacts } = configurationOf(seeds);
  const named = critical_artifacts.always_load
    .map(({ path: file }) => String(file).replace('{plan_id}', 'p1'))
    .filter((file) => !file.includes('{run_id}'))
    .map((file) => [file, file.endsWith('.json') ? '{ "plan": "Plan p1" }\n' : '# The protocol\n']);
  return seeds.project({
    ...Object.fromEntries(named),
    [path]: configuration,
    '.stepfast/workflows/faber.yaml': JSON.stringify(workflow),
    'specs/agreed.md': '# The specification\n',
  });
}

/** The configuration is a base as printed: a workflow on it loads every artifact, and completes. */
export const configures: Runner = async ({ text }, seeds) => {
  const project = projectWith(seeds, text, seeds.sample('004/file-1').text);
  await loadsAll(project, seeds);
  assert.equal((await follow(project, 'faber')).length, steps.length);
};

/** The same configuration under this path. */
export const configuresAt: Runner = async ({ text }, seeds) => {
  assert.match(text, /\.json$/);
  const project = projectWith(seeds, seeds.sample('004/block-2').text, text);
  const validated = await project.run(['validate', 'faber']);
  assert.equal(validated.code, 0, validated.stdout);
  await loadsAll(project, seeds);
};

async function loadsAll(project: TestProject, seeds: Seeds): Promise<void> {
  await callOurs(project, 'workflow_start', { workflow: 'faber' });
  await noteSpecification(project);
  const { critical_artifacts } = configurationOf(seeds);
  const ids = Object.values(critical_artifacts)
    .flat()
    .map(({ id }) => id);
  const primed = await project.run(['prime', '--json']);
  assert.equal(primed.code, 0, primed.stderr);
  const { reloaded } = JSON.parse(primed.stdout) as { reloaded: { id: string; hash?: string }[] };
  assert.deepEqual(
    reloaded.flatMap(({ id, hash }) => (hash === undefined ? [] : [id])),
    ids,
    primed.stdout,
  );
  await project.run(['cancel', '--yes', 'over'], { terminal: true, input: ['y'] });
}

const noteSpecification = (project: TestProject, text = 'specs/agreed.md') =>
  callOurs(project, 'workflow_note', { kind: 'artefact', key: 'spec_path', text });

/** The fields that the sample adds are those of `state.json`, by the published schema. */
export const stateFields: Runner = ({ text }) => {
  const { sessions, context_metadata } = JSON.parse(text);
  const { properties } = schemaOf('state.schema.json');
  const schema = z.fromJSONSchema({
    type: 'object',
    required: ['sessions', 'context_metadata'],
    properties: { sessions: properties.sessions, context_metadata: properties.context_metadata },
  });
  assert.doesNotThrow(() => schema.parse({ sessions, context_metadata }));
};

interface Phases {
  phases: Record<string, { pre_steps: { id: string; description: string }[] }>;
}

/** A workflow with the printed phases: what comes before a phase is done first, and the run completes. */
export const phasesFollowed: Runner = async ({ text }, seeds) => {
  const { phases }: Phases = JSON.parse(text);
  const order = Object.entries(phases).flatMap(([id, { pre_steps }]) => [
    ...pre_steps,
    { id, description: '' },
  ]);
  const workflow = { id: 'printed', description: 'As printed', ...JSON.parse(text) };
  const project = seeds.project({ '.stepfast/workflows/printed.yaml': JSON.stringify(workflow) });
  const started = await callOurs(project, 'workflow_start', { workflow: 'printed' });
  assert.equal(started.step, order[0]?.id, JSON.stringify(started));
  assert.ok(String(started.instructions).includes(order[0]?.description ?? ''));
  await follow(project, 'printed');
  const entered = await (await project.onlyRun()).events('position.entered');
  assert.deepEqual(
    entered.map(({ step }) => step),
    order.map(({ id }) => id),
  );
};

/** A noted path with placeholders leads to the file, on any machine. */
export const portablePath: Runner = async ({ kind, text }, seeds) => {
  const path = kind === 'file' ? text : String(JSON.parse(text).artifacts.spec_path);
  const file = path.replace('{project_root}/', '');
  assert.notEqual(file, path);
  const workflow = {
    name: 'w',
    description: 'W',
    critical_artifacts: {
      conditional_load: configurationOf(seeds).critical_artifacts.conditional_load.map((each) => ({
        ...each,
        required: true,
        reload_triggers: ['session_start'],
      })),
    },
    steps,
  };
  const project = seeds.project({
    '.stepfast/workflows/w.yaml': JSON.stringify(workflow),
    [file]: '# As agreed\n',
  });
  await callOurs(project, 'workflow_start', { workflow: 'w' });
  const noted = await noteSpecification(project, path);
  assert.equal(noted.isError, false, JSON.stringify(noted));
  const { stdout } = await project.run(['prime']);
  assert.match(stdout, /As agreed/);
};

/** A critical artifact at this path is part of the briefing. */
export const artifactLoaded: Runner = async ({ text }, seeds) => {
  const file = text.replace('{plan_id}', 'p1').replace('{run_id}', 'r1');
  const type = file.endsWith('.json') ? 'json' : 'markdown';
  const workflow = {
    name: 'w',
    description: 'W',
    variables: { plan_id: 'p1' },
    critical_artifacts: { always_load: [{ id: 'it', type, path: text, required: true }] },
    steps,
  };
  assert.match(text, /\.(?:md|json)$/);
  const content = type === 'json' ? '{ "said": "As agreed" }\n' : 'As agreed\n';
  const project = seeds.project({ '.stepfast/workflows/w.yaml': JSON.stringify(workflow), [file]: content });
  await callOurs(project, 'workflow_start', { workflow: 'w' });
  assert.match((await project.run(['prime'])).stdout, /As agreed/);
};

/** The state file of a run in this place, under our folder: it has the fields that the sample adds. */
export const stateFile: Runner = async ({ text }, seeds) => {
  const project = seeds.project({
    '.stepfast/workflows/w.yaml': JSON.stringify({ name: 'w', description: 'W', steps }),
  });
  await callOurs(project, 'workflow_start', { workflow: 'w' });
  const { run } = await project.onlyRun();
  const [folder = '', ...rest] = text.replace('{run_id}', run).split('/');
  assert.match(folder, /^\.\w+$/);
  const state = JSON.parse(readFileSync(join(project.root, '.stepfast', ...rest), 'utf8'));
  assert.equal(state.run_id, run);
  assert.equal(state.sessions.session_history[0].session_id, 'seeds');
  assert.equal(typeof state.context_metadata.reload_count, 'number');
};

/** The published schema of this name knows what the document adds to it. */
export const schemaPublished: Runner = ({ text }) => {
  const { properties } = schemaOf(basename(text));
  const keys = text.includes('workflow') ? ['critical_artifacts'] : ['sessions', 'context_metadata'];
  for (const key of keys) assert.ok(key in properties, key);
};

/** The command that reloads, with the options of the document; every load is recorded. */
export const primes: Runner = async ({ text }, seeds) => {
  const project = projectWith(seeds, seeds.sample('004/block-2').text, 'faber.json');
  await callOurs(project, 'workflow_start', { workflow: 'faber' });
  await noteSpecification(project);
  const { run } = await project.onlyRun();
  const [, options] =
    /^\/[\w-]+:prime-context(?: (.+))?$/.exec(text) ?? assert.fail('not a command that primes');
  const argv = (options ?? '')
    .replace('{run_id}', run)
    .split(' ')
    .filter((part) => part !== '');
  const env = { ...project.env, STEPFAST_SESSION: 'primed' };
  const primed = await project.run(['prime', ...argv], { env });
  assert.equal(primed.code, 0, primed.stderr);
  const named = /--artifacts (\S+)/.exec(text)?.[1]?.split(',');
  assert.equal(primed.stdout.includes('# The protocol'), named === undefined);
  assert.match(primed.stdout, /# The specification/);
  const file = join(project.root, '.stepfast', 'runs', run, 'state.json');
  const { context_metadata } = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(context_metadata.reload_count > 0);
  assert.ok(Date.parse(context_metadata.last_artifact_reload) > 0);
  // What the session has is named only, unless it is forced.
  const again = await project.run(['prime', ...argv], { env });
  assert.equal(again.stdout.includes('# The specification'), named !== undefined || argv.includes('--force'));
};

/** The skill or the command of this place, as ours: a person and an agent can reload. */
export const reloadIsOffered: Runner = async ({ text }, seeds) => {
  assert.match(text, /(?:context-manager|prime-context)/);
  const skill = join(root, 'skills', 'prime', 'SKILL.md');
  if (text.endsWith('SKILL.md')) return assert.match(readFileSync(skill, 'utf8'), /^---\nname: prime\n/);
  const project = seeds.project();
  const help = await project.run(['prime', '--help']);
  assert.equal(help.code, 0);
  const printed = seeds
    .of('004')
    .flatMap(({ kind, text: command }) =>
      kind === 'command' ? (command.match(/--(?!resume)[a-z-]+/g) ?? []) : [],
    );
  assert.notEqual(printed.length, 0);
  for (const option of printed) assert.ok(help.stdout.includes(option), option);
  assert.ok(existsSync(skill));
};

/** Our page says what that document is for: every field and every trigger of the sample. */
export const documented: Runner = ({ text }, seeds) => {
  assert.match(text, /\/docs\/.+\.md$/);
  const pages = ['context.md', 'workflow.md']
    .map((page) => readFileSync(join(root, 'docs', page), 'utf8'))
    .join('\n');
  const artifacts = Object.values(configurationOf(seeds).critical_artifacts).flat();
  const fields = artifacts.flatMap((artifact) => Object.keys(artifact));
  const triggers = artifacts.flatMap(({ reload_triggers }) => reload_triggers as string[]);
  const words = [...fields, ...triggers.map((trigger) => trigger.replace(/:.*/, ''))];
  assert.deepEqual(
    words.filter((word) => !pages.includes(`\`${word}`)),
    [],
  );
};

/** The phases of the document are a bundled workflow; a number starts it. */
export const startsWorkflow: Runner = async ({ text }, seeds) => {
  const [, number = ''] = /:run (\d+)$/.exec(text) ?? assert.fail('not a command that starts');
  const project = seeds.project();
  const started = await callOurs(project, 'workflow_start', { workflow: 'faber', inputs: { work: number } });
  assert.equal(started.isError, false, JSON.stringify(started));
  assert.equal(started.step, 'frame');
  assert.equal((await (await project.onlyRun()).state()).inputs.work, number);
};

/** A run that was started on one machine goes on at another: what is restored is shown, and both sessions. */
export const resumesElsewhere: Runner = async ({ text }, seeds) => {
  const [, option = ''] = /:run --(resume) \S+$/.exec(text) ?? assert.fail('not a command that resumes');
  const a = projectWith(seeds, seeds.sample('004/block-2').text, 'faber.json');
  const b = seeds.project();
  a.git('init', '-q', '--bare', '../remote.git');
  for (const project of [a, b]) project.git('remote', 'add', 'origin', join(a.root, '..', 'remote.git'));
  const on = (machine: string, { env }: TestProject) => ({
    env: { ...env, STEPFAST_MACHINE: machine, STEPFAST_SESSION: `session-on-${machine}` },
  });
  const started = await a.run(['start', 'faber', '--summary', 'Moved', '--json'], on('machine-a', a));
  const { run } = JSON.parse(started.stdout) as { run: string };
  for (const { path } of configurationOf(seeds).critical_artifacts.always_load)
    if (String(path).endsWith('.md')) b.write({ [String(path)]: '# The protocol\n' });
  assert.equal((await a.run(['push', '--yes'], on('machine-a', a))).code, 0);
  assert.equal((await b.run(['pull'], on('machine-b', b))).code, 0);
  const resumed = await b.run([option, run], on('machine-b', b));
  assert.equal(resumed.code, 0, resumed.stderr);
  for (const part of [run, '# The protocol', 'machine-a', 'machine-b'])
    assert.ok(resumed.stdout.includes(part), `${part} is not in what is restored`);
};
