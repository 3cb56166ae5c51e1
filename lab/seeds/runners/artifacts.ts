/** Critical artifacts, priming and portability of 004. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import type { TestProject } from '../../../src/testing/index.ts';
import { check, type Seeds } from '../check.ts';
import { callOurs, follow, phases, projectOf, startsIn, stateOf } from './tools.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const schemaOf = (name: string) => JSON.parse(readFileSync(join(root, 'schema', name), 'utf8'));

type Artifact = { id: string; path: string; reload_triggers: string[] };

const configurationOf = (seeds: Seeds): Record<'always_load' | 'conditional_load', Artifact[]> =>
  JSON.parse(seeds.text('004/block-2')).critical_artifacts;
const allArtifacts = (seeds: Seeds): Artifact[] => Object.values(configurationOf(seeds)).flat();

/** A workflow that extends the printed configuration in this place, and the files that it names. */
function withConfiguration(
  seeds: Seeds,
  path = 'faber.json',
  configuration = seeds.text('004/block-2'),
): TestProject {
  const workflow = { name: 'w', extends: `../../${path}`, variables: { plan_id: 'p1' }, ...phases };
  const named = configurationOf(seeds)
    .always_load.map((each) => each.path.replace('{plan_id}', 'p1'))
    .filter((file) => !file.includes('{run_id}'))
    .map((file) => [file, file.endsWith('.json') ? '{ "plan": "Plan p1" }\n' : '# The protocol\n']);
  return projectOf(seeds, workflow, {
    ...Object.fromEntries(named),
    [path]: configuration,
    'specs/agreed.md': '# The specification\n',
  });
}

async function started(project: TestProject): Promise<TestProject> {
  await startsIn(project);
  await noteSpecification(project);
  return project;
}

const noteSpecification = (project: TestProject, text = 'specs/agreed.md') =>
  callOurs(project, 'workflow_note', { kind: 'artefact', key: 'spec_path', text });

export const configured = check(
  'the configuration in its place: validated, extended, every artifact loaded; followed to its end',
  async ({ kind, text }, seeds) => {
    const [path, configuration] =
      kind === 'file' ? [text, seeds.text('004/block-2')] : [seeds.text('004/file-1'), text];
    assert.match(path, /\.json$/);
    const project = await started(withConfiguration(seeds, path, configuration));
    const validated = await project.run(['validate', 'w']);
    assert.equal(validated.code, 0, validated.stdout);
    const primed = await project.run(['prime', '--json']);
    const { reloaded } = JSON.parse(primed.stdout) as { reloaded: { id: string; hash?: string }[] };
    assert.deepEqual(
      reloaded.flatMap(({ id, hash }) => (hash === undefined ? [] : [id])),
      allArtifacts(seeds).map(({ id }) => id),
      primed.stdout,
    );
    await project.run(['cancel', '--yes', 'over'], { terminal: true, input: ['y'] });
    assert.equal((await follow(project)).length, phases.steps.length);
  },
);

export const stateFields = check('valid by `schema/state.schema.json`', ({ text }) => {
  const { sessions, context_metadata } = JSON.parse(text);
  const { properties } = schemaOf('state.schema.json');
  for (const [key, value] of Object.entries({ sessions, context_metadata }))
    assert.doesNotThrow(() => z.fromJSONSchema(properties[key]).parse(value), key);
});

export const phasesFollowed = check(
  'started: the step before a phase comes first; followed to its end',
  async ({ text }, seeds) => {
    const printed: { phases: Record<string, { pre_steps: { id: string; description: string }[] }> } =
      JSON.parse(text);
    const order = Object.entries(printed.phases).flatMap(([id, { pre_steps }]) => [
      ...pre_steps,
      { id, description: '' },
    ]);
    const project = projectOf(seeds, printed);
    const first = await startsIn(project);
    assert.equal(first.step, order[0]?.id, JSON.stringify(first));
    assert.ok(String(first.instructions).includes(order[0]?.description ?? ''));
    await follow(project);
    const entered = await (await project.onlyRun()).events('position.entered');
    assert.deepEqual(
      entered.map(({ step }) => step),
      order.map(({ id }) => id),
    );
  },
);

/** A run whose critical artifact is in this file: the briefing has it. */
async function briefs(seeds: Seeds, critical_artifacts: object, file: string, noted?: string): Promise<void> {
  const workflow = { variables: { plan_id: 'p1' }, critical_artifacts, ...phases };
  const project = projectOf(seeds, workflow, { [file]: '{ "said": "As agreed" }\n' });
  await startsIn(project);
  if (noted !== undefined) assert.equal((await noteSpecification(project, noted)).isError, false);
  assert.match((await project.run(['prime'])).stdout, /As agreed/);
}

export const portable = check(
  'noted as an artifact: the placeholder leads to the file',
  async ({ kind, text }, seeds) => {
    const path = kind === 'file' ? text : String(JSON.parse(text).artifacts.spec_path);
    const file = path.replace('{project_root}/', '');
    assert.notEqual(file, path);
    const always = { required: true, reload_triggers: ['session_start'] };
    const conditional_load = configurationOf(seeds).conditional_load.map((each) => ({ ...each, ...always }));
    await briefs(seeds, { conditional_load }, file, path);
  },
);

export const artifact = check(
  'a critical artifact with this path is part of the briefing',
  async ({ text }, seeds) => {
    assert.match(text, /\.(?:md|json)$/);
    const type = text.endsWith('.json') ? 'json' : 'markdown';
    const always_load = [{ id: 'it', type, path: text, required: true }];
    await briefs(seeds, { always_load }, text.replace('{plan_id}', 'p1').replace('{run_id}', 'r1'));
  },
);

export const stateFile = check(
  'written there, under our folder, with the fields of the sample',
  async ({ text }, seeds) => {
    assert.match(text, /^\.\w+\/runs\/\{run_id\}\/state\.json$/);
    const project = projectOf(seeds, phases);
    await startsIn(project);
    const { run } = await project.onlyRun();
    const state = stateOf(project, run);
    assert.equal(state.run_id, run);
    assert.equal(state.sessions.session_history[0].session_id, 'seeds');
    assert.equal(typeof state.context_metadata.reload_count, 'number');
  },
);

export const schema = check('published in `schema/`, with the keys that the document adds', ({ text }) => {
  const { properties } = schemaOf(basename(text));
  const keys = text.includes('workflow') ? ['critical_artifacts'] : ['sessions', 'context_metadata'];
  for (const key of keys) assert.ok(key in properties, key);
});

export const primes = check(
  '`stepfast prime` with these options: loads the artifacts and records it',
  async ({ text }, seeds) => {
    const project = await started(withConfiguration(seeds));
    const { run } = await project.onlyRun();
    const [, options = ''] = /^\/[\w-]+:prime-context(?: (.+))?$/.exec(text) ?? assert.fail('does not prime');
    const argv = ['prime', ...options.replace('{run_id}', run).split(' ').filter(Boolean)];
    const env = { ...project.env, STEPFAST_SESSION: 'primed' };
    const primed = await project.run(argv, { env });
    assert.equal(primed.code, 0, primed.stderr);
    const named = argv.includes('--artifacts');
    assert.equal(primed.stdout.includes('# The protocol'), !named);
    assert.match(primed.stdout, /# The specification/);
    const { context_metadata } = stateOf(project, run);
    assert.ok(context_metadata.reload_count > 0);
    assert.ok(Date.parse(context_metadata.last_artifact_reload) > 0);
    // What the session has is named only, unless it is forced.
    const again = await project.run(argv, { env });
    assert.equal(again.stdout.includes('# The specification'), named || argv.includes('--force'));
  },
);

export const page = check('our pages have every field and trigger of the sample', ({ text }, seeds) => {
  assert.match(text, /\/docs\/.+\.md$/);
  const pages = ['context.md', 'workflow.md']
    .map((each) => readFileSync(join(root, 'docs', each), 'utf8'))
    .join('\n');
  const fields = allArtifacts(seeds).flatMap((each) => Object.keys(each));
  const triggers = allArtifacts(seeds).flatMap(({ reload_triggers }) => reload_triggers);
  const words = [...fields, ...triggers.map((trigger) => trigger.replace(/:.*/, ''))];
  assert.deepEqual(
    words.filter((word) => !pages.includes(`\`${word}`)),
    [],
  );
});

export const startsBundled = check(
  '`workflow_start` of the bundled workflow with these phases',
  async ({ text }, seeds) => {
    const [, work = ''] = /:run (\d+)$/.exec(text) ?? assert.fail('not a command that starts');
    const project = seeds.project();
    const reply = await callOurs(project, 'workflow_start', { workflow: 'faber', inputs: { work } });
    assert.equal(reply.step, 'frame', JSON.stringify(reply));
    assert.equal((await (await project.onlyRun()).state()).inputs.work, work);
  },
);

export const resumes = check(
  '`stepfast resume` in a second clone: restores, and shows both machines',
  async ({ text }, seeds) => {
    const [, resume = ''] = /:run --(resume) \S+$/.exec(text) ?? assert.fail('not a command that resumes');
    const a = withConfiguration(seeds);
    const protocols = configurationOf(seeds).always_load.filter(({ path }) => path.endsWith('.md'));
    const b = seeds.project(Object.fromEntries(protocols.map(({ path }) => [path, '# The protocol\n'])));
    a.git('init', '-q', '--bare', '../remote.git');
    for (const each of [a, b]) each.git('remote', 'add', 'origin', join(a.root, '..', 'remote.git'));
    const on = (name: string, { env, run: command }: TestProject, ...argv: string[]) =>
      command(argv, { env: { ...env, STEPFAST_MACHINE: `machine-${name}`, STEPFAST_SESSION: name } });
    const { run } = JSON.parse((await on('a', a, 'start', 'w', '--summary', 'Moved', '--json')).stdout);
    assert.equal((await on('a', a, 'push', '--yes')).code, 0);
    assert.equal((await on('b', b, 'pull')).code, 0);
    const resumed = await on('b', b, resume, run);
    assert.equal(resumed.code, 0, resumed.stderr);
    for (const part of [run, '# The protocol', 'machine-a', 'machine-b'])
      assert.ok(resumed.stdout.includes(part), `${part} is not in what is restored`);
  },
);
