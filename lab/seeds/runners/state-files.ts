/** The state files, markers and plans that an agent writes without Stepfast, and what a session is told of them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { HookKit } from '../../../test/kit/hooks.ts';
import type { Runner, Seeds } from '../row.ts';

interface StateFile {
  workflow: string;
  phase: { current: number; total: number; name: string };
  required_reading: string[];
  context: Record<string, unknown>;
  key_reminders: string[];
  created_at: string;
}

const folder = 'untracked/workflow-state';
const startTime = '20260102_030405';

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const placeOf = ({ workflow }: StateFile): string =>
  `${folder}/${slugOf(workflow)}/state-${slugOf(workflow)}-${startTime}.json`;

/** A session after a compaction is told all that the file says; the file stays as it is. */
export const restored: Runner = async ({ text }, seeds) => {
  const state: StateFile = JSON.parse(text);
  await restores(seeds, state, placeOf(state));
};

async function restores(seeds: Seeds, state: StateFile, path: string): Promise<void> {
  const kit = seeds.hooks(filesOf(state, path));
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  says(context, state);
  const file = join(kit.project.root, path);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), state);
  await adopts(kit, state, path);
}

function filesOf(state: StateFile, path: string): Record<string, string> {
  const reading = state.required_reading.map((each) => [each.replace(/^@/, ''), `# About ${each}\n`]);
  return { [path]: JSON.stringify(state), ...Object.fromEntries(reading) };
}

function says(context: string, { workflow, phase, ...state }: StateFile): void {
  const expected = [
    workflow,
    `${phase.current}/${phase.total}`,
    phase.name,
    'ACTION REQUIRED',
    'REQUIRED READING',
    ...state.required_reading,
    ...state.key_reminders,
    ...Object.entries(state.context).flatMap(([key, value]) => [key, String(value)]),
  ];
  assert.deepEqual(
    expected.filter((part) => !context.includes(part)),
    [],
    context,
  );
}

/** The run of the file follows it to the next phase; `created_at` stays. */
async function adopts({ project, fire }: HookKit, state: StateFile, path: string): Promise<void> {
  const adopted = await project.run(['adopt']);
  assert.equal(adopted.code, 0, adopted.stderr);
  const { run } = await project.onlyRun();
  const ours = () =>
    JSON.parse(readFileSync(join(project.root, '.stepfast/runs', run, 'state.json'), 'utf8'));
  const { phase, created_at } = ours();
  assert.partialDeepStrictEqual(phase, state.phase);
  const next = { ...state.phase, current: state.phase.current + 1, name: 'The next one' };
  project.write({ [path]: JSON.stringify({ ...state, phase: next }) });
  await fire('PreCompact', { trigger: 'auto' });
  assert.partialDeepStrictEqual(ours(), { phase: next, created_at });
}

const exampleState = (seeds: Seeds): StateFile => JSON.parse(seeds.sample('002/block-6').text);

/** A state file in this place is found. Placeholders and stars stand for any name. */
export const foundAt: Runner = async ({ text }, seeds) => {
  const state = exampleState(seeds);
  const slug = slugOf(state.workflow);
  const named = text
    .replaceAll('{workflow-name}', slug)
    .replaceAll('{start-time}', startTime)
    .replace('/*/', `/${slug}/`);
  assert.match(named, /^(?:untracked\/workflow-state\/|state-)/);
  const file = named.endsWith('/') ? `${named}state-${slug}-${startTime}.json` : named;
  const name = /state-(.+)-\d{8}_\d{6}\.json$/.exec(file)?.[1];
  const inFolder = file.startsWith(folder) ? file : `${folder}/${name}/${file}`;
  const deep = inFolder.split('/').length === 4 ? inFolder : inFolder.replace(folder, `${folder}/${slug}`);
  await restores(seeds, state, deep);
};

/** Of several state files the one that was modified last is told; all of them stay. */
export const foundInTree: Runner = async ({ text }, seeds) => {
  const paths = pathsIn(text);
  assert.notEqual(paths.length, 0);
  for (const newest of paths) {
    const states = paths.map((path, index) => ({
      ...exampleState(seeds),
      workflow: `Workflow ${index}`,
      path,
    }));
    const kit = seeds.hooks(
      Object.fromEntries(states.map(({ path, ...state }) => [path, JSON.stringify(state)])),
    );
    for (const path of paths) {
      const seconds = path === newest ? 2000 : 1000;
      utimesSync(join(kit.project.root, path), seconds, seconds);
    }
    const { context } = await kit.fire('SessionStart', { source: 'compact' });
    assert.match(context, new RegExp(states.find(({ path }) => path === newest)?.workflow ?? '-'));
    for (const path of paths) assert.ok(existsSync(join(kit.project.root, path)));
  }
};

/** The files of a drawn tree: a line that ends in a slash is a folder, the first one the root. */
function pathsIn(tree: string): string[] {
  let [root, inside] = ['', ''];
  return tree.split('\n').flatMap((line) => {
    const name = /[\w.][\w./-]*$/.exec(line)?.[0] ?? '';
    if (!name.endsWith('/')) return name === '' ? [] : [`${root}${inside}${name}`];
    if (root === '') root = name.replace(/^\.\//, '');
    else inside = name;
    return [];
  });
}

/** Markers in this file make a run before a compaction, and the session is told of it afterwards. */
export const markersAdopted: Runner = async ({ kind, text }, seeds) => {
  const file = kind === 'file' ? text : seeds.sample('002/file-2').text;
  const markers = kind === 'file' ? seeds.sample('002/block-3').text : text;
  const kit = seeds.hooks({ [file]: markers });
  await kit.fire('PreCompact', { trigger: 'auto' });
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  const [, name, phase] = /^Workflow: (.+)\nPhase: (\S+)/m.exec(markers) ?? assert.fail('no markers');
  for (const part of [name, phase, ...(markers.match(/^@\S+$/gm) ?? [])])
    assert.ok(context.includes(part ?? ''), `${part} is not in the briefing`);
};

/** A plan in progress in this place is found, whatever its folder is called. */
export const planAdopted: Runner = async ({ text }, seeds) => {
  const plan = '# Sign in\n\n**Status**: 🔄 In Progress\n\n## Phase 1: Design ✅\n\n## Phase 2: Build 🔄\n';
  const kit = seeds.hooks({ [text.replace('*', '001-sign-in')]: plan });
  const adopted = await kit.project.run(['adopt']);
  assert.equal(adopted.code, 0, adopted.stderr);
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  assert.match(context, /Sign in/);
};

/** Required reading with this path is part of the next action until it is read. */
export const requiredReading: Runner = async ({ text }, seeds) => {
  const [, path] = /^@((?!\.\.)\S+)$/.exec(text) ?? [];
  assert.ok(path, 'no path with @');
  const kit = seeds.hooks({ ...readingWorkflow(text), [path]: `# About ${path}\n` });
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const before = await kit.fire('SessionStart', { source: 'compact' });
  assert.ok(sectionOf(before.context, 'ACTION REQUIRED').includes(text), before.context);
  await kit.fire('PostToolUse', {
    tool_name: 'Read',
    tool_use_id: 'read-1',
    tool_input: { file_path: join(kit.project.root, path) },
    tool_response: { type: 'text', file: { filePath: join(kit.project.root, path) } },
  });
  const after = await kit.fire('SessionStart', { source: 'compact' });
  assert.notEqual(lineWith(after.context, text), lineWith(before.context, text));
};

/** Without `@` it is refused, and the corrected line is accepted. */
export const readingWithoutSign: Runner = async (sample, seeds) => {
  const { text } = sample;
  const project = seeds.project(readingWorkflow(text));
  const { code, stdout } = await project.run(['validate', 'w']);
  assert.equal(code, 1);
  assert.ok(stdout.includes(`@${text}`), stdout);
  await requiredReading({ ...sample, text: `@${text}` }, seeds);
};

const readingWorkflow = (path: string): Record<string, string> => ({
  '.stepfast/workflows/w.yaml': `name: w
description: W
required_reading: ["${path}"]
steps: [{ id: one, type: action, instructions: Do one }]
`,
});

const sectionOf = (context: string, heading: string): string =>
  new RegExp(`^${heading}$(.*?)(?=^[A-Z ]+$|$(?![\\s\\S]))`, 'ms').exec(context)?.[1] ?? '';

const lineWith = (context: string, text: string): string | undefined =>
  sectionOf(context, 'REQUIRED READING')
    .split('\n')
    .find((line) => line.includes(text));

/** The event of the other tool's handler is one of ours: silent without a workflow, informative with one. */
export const handlesEvent: Runner = async ({ text }, seeds) => {
  const snake = /\/handlers\/(\w+)\//.exec(text)?.[1] ?? assert.fail('no handler');
  const event = snake.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const root = join(import.meta.dirname, '..', '..', '..');
  const { hooks } = JSON.parse(readFileSync(join(root, 'hooks', 'hooks.json'), 'utf8'));
  assert.ok(event in hooks);
  const payload = event === 'PreCompact' ? { trigger: 'auto' } : { source: 'compact' };
  const idle = await seeds.hooks().fire(event, payload);
  assert.deepEqual([idle.exitCode, idle.stdout], [0, '']);
  const markers = seeds.sample('002/block-3').text;
  const kit = seeds.hooks({ [seeds.sample('002/file-2').text]: markers });
  if (event === 'SessionStart') await kit.fire('PreCompact', { trigger: 'auto' });
  const busy = await kit.fire(event, payload);
  assert.equal(busy.exitCode, 0);
  assert.ok(busy.stdout.includes(/^Phase: (\S+)/m.exec(markers)?.[1] ?? assert.fail('no phase')));
};
