/** The state files, markers and plans that an agent writes without Stepfast, and what a session is told of them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from '../../../src/testing/index.ts';
import { check, type Seeds } from '../check.ts';
import { plain, stateOf, yamlOf } from './tools.ts';

interface StateFile {
  workflow: string;
  phase: { current: number; total: number; name: string };
  required_reading: string[];
  context: Record<string, unknown>;
  key_reminders: string[];
}

const folder = 'untracked/workflow-state';
const startTime = '20260102_030405';
const compacted = { source: 'compact' };

const exampleState = (seeds: Seeds): StateFile => JSON.parse(seeds.text('002/block-6'));

const slugOf = ({ workflow }: StateFile): string =>
  workflow
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join('-') ?? '';

/** A whole path of a state file. Placeholders and stars stand for any name. */
function placeIn(text: string, slug: string): string {
  const named = text.replaceAll(/\{workflow-name\}|\*/g, slug).replaceAll('{start-time}', startTime);
  if (named === `${folder}/`) return placeIn(`${folder}/*/`, slug);
  if (named.endsWith('/')) return `${named}state-${slug}-${startTime}.json`;
  const [, name] = /^state-(.+)-\d{8}_\d{6}\.json$/.exec(named) ?? [];
  return name === undefined ? named : `${folder}/${name}/${named}`;
}

async function adopts(project: TestProject): Promise<void> {
  const { code, stderr } = await project.run(['adopt']);
  assert.equal(code, 0, stderr);
}

/** A session after a compaction is told all that the file says; the run of the file follows it. */
export const restored = check(
  'saved in its place: a session after a compaction is told all of it; adopted',
  async ({ kind, text }, seeds) => {
    const state: StateFile = kind === 'file' ? exampleState(seeds) : JSON.parse(text);
    const path = placeIn(kind === 'file' ? text : `${folder}/`, slugOf(state));
    assert.ok(path.startsWith(folder), path);
    const reading = state.required_reading.map((each) => [each.replace(/^@/, ''), `# About ${each}\n`]);
    const { project, fire } = seeds.hooks({
      [path]: JSON.stringify(state),
      ...Object.fromEntries(reading),
    });
    const { context } = await fire('SessionStart', compacted);
    const { workflow, phase, required_reading, key_reminders } = state;
    const expected = [
      ...[workflow, `${phase.current}/${phase.total}`, phase.name, 'ACTION REQUIRED', 'REQUIRED READING'],
      ...[...required_reading, ...key_reminders],
      ...Object.entries(state.context).flatMap(([key, value]) => [key, String(value)]),
    ];
    assert.deepEqual(
      expected.filter((part) => !context.includes(part)),
      [],
      context,
    );
    assert.deepEqual(JSON.parse(readFileSync(join(project.root, path), 'utf8')), state);
    await adopts(project);
    const { run } = await project.onlyRun();
    const ours = () => stateOf(project, run);
    const { created_at, ...first } = ours();
    assert.partialDeepStrictEqual(first.phase, phase);
    const next = { ...phase, current: phase.current + 1, name: 'The next one' };
    project.write({ [path]: JSON.stringify({ ...state, phase: next }) });
    await fire('PreCompact', { trigger: 'auto' });
    assert.partialDeepStrictEqual(ours(), { phase: next, created_at });
  },
);

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

export const tree = check(
  'state files in these places: the newest is told, all stay',
  async ({ text }, seeds) => {
    const paths = pathsIn(text);
    assert.notEqual(paths.length, 0);
    for (const newest of paths) {
      const state = (path: string) => JSON.stringify({ ...exampleState(seeds), workflow: `In ${path}` });
      const kit = seeds.hooks(Object.fromEntries(paths.map((path) => [path, state(path)])));
      const at = (path: string): string => join(kit.project.root, path);
      for (const path of paths) utimesSync(at(path), 1000, path === newest ? 2000 : 1000);
      const { context } = await kit.fire('SessionStart', compacted);
      assert.ok(context.includes(`In ${newest}`), context);
      assert.deepEqual(
        paths.filter((path) => !existsSync(at(path))),
        [],
      );
    }
  },
);

export const markers = check('adopted before a compaction, told after it', async ({ kind, text }, seeds) => {
  const [file, content] =
    kind === 'file' ? [text, seeds.text('002/block-3')] : [seeds.text('002/file-2'), text];
  const kit = seeds.hooks({ [file]: content });
  await kit.fire('PreCompact', { trigger: 'auto' });
  const { context } = await kit.fire('SessionStart', compacted);
  const [, name, phase] = /^Workflow: (.+)\nPhase: (\S+)/m.exec(content) ?? assert.fail('no markers');
  for (const part of [name, phase, ...(content.match(/^@\S+$/gm) ?? [])])
    assert.ok(context.includes(part ?? ''), `${part} is not in the briefing`);
});

export const plan = check('a plan in progress there is adopted', async ({ text }, seeds) => {
  const content =
    '# Sign in\n\n**Status**: 🔄 In Progress\n\n## Phase 1: Design ✅\n\n## Phase 2: Build 🔄\n';
  const kit = seeds.hooks({ [text.replace('*', '001-sign-in')]: content });
  await adopts(kit.project);
  assert.match((await kit.fire('SessionStart', compacted)).context, /Sign in/);
});

const sectionOf = (context: string, heading: string): string =>
  new RegExp(`^${heading}$(.*?)(?=^[A-Z ]+$|$(?![\\s\\S]))`, 'ms').exec(context)?.[1] ?? '';

/** A path without `@` is refused first, with the corrected line. */
export const reading = check(
  'required reading: part of the next action until it is read; refused without `@`, with the corrected line',
  async ({ text }, seeds) => {
    const workflow = (path: string): Record<string, string> => ({
      '.stepfast/workflows/w.yaml': yamlOf({ required_reading: [path], ...plain }),
    });
    const wanted = text.startsWith('@') ? text : `@${text}`;
    if (wanted !== text) {
      const { code, stdout } = await seeds.project(workflow(text)).run(['validate', 'w']);
      assert.deepEqual([code, stdout.includes(wanted)], [1, true], stdout);
    }
    const path = wanted.slice(1);
    const kit = seeds.hooks({ ...workflow(wanted), [path]: `# About ${path}\n` });
    const { run, at } = await kit.start();
    await kit.called('a', { run, at });
    const listed = async (heading: string): Promise<string | undefined> => {
      const { context } = await kit.fire('SessionStart', compacted);
      return sectionOf(context, heading)
        .split('\n')
        .find((line) => line.includes(wanted));
    };
    assert.ok(await listed('ACTION REQUIRED'));
    const before = await listed('REQUIRED READING');
    const filePath = join(kit.project.root, path);
    await kit.fire('PostToolUse', {
      tool_name: 'Read',
      tool_use_id: 'read-1',
      tool_input: { file_path: filePath },
      tool_response: { type: 'text', file: { filePath } },
    });
    assert.notEqual(await listed('REQUIRED READING'), before);
  },
);

export const hookFile = check(
  'our hook for its event: silent without a workflow, informative with one',
  async ({ text }, seeds) => {
    const snake = /\/handlers\/(\w+)\//.exec(text)?.[1] ?? assert.fail('no handler');
    const event = snake.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
    const payload = event === 'PreCompact' ? { trigger: 'auto' } : compacted;
    const idle = await seeds.hooks().fire(event, payload);
    assert.deepEqual([idle.exitCode, idle.stdout], [0, '']);
    const content = seeds.text('002/block-3');
    const kit = seeds.hooks({ [seeds.text('002/file-2')]: content });
    if (event === 'SessionStart') await kit.fire('PreCompact', { trigger: 'auto' });
    const busy = await kit.fire(event, payload);
    assert.equal(busy.exitCode, 0);
    assert.ok(busy.stdout.includes(/^Phase: (\S+)/m.exec(content)?.[1] ?? assert.fail('no phase')));
  },
);
