/** Source files of the other project: what the document puts there is in the part of ours that has the same job. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as library from '../../../src/index.ts';
import { listedTools } from '../../../src/mcp/tools.ts';
import type { Runner, Seeds } from '../row.ts';
import { compiles } from './compile.ts';
import { callOurs, refusesAsOurs } from './handlers.ts';
import { testBlocks, testsPass } from './printed-tests.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const blocksOf = (seeds: Seeds, document: string, pattern: RegExp) =>
  seeds.of(document).filter(({ kind, text }) => kind === 'block' && pattern.test(text));

/** The printed types are exported here. */
export const holdsTypes: Runner = async ({ id, text }, seeds) => {
  assert.match(text, /types\.ts$/);
  const blocks = blocksOf(seeds, id.slice(0, 3), /^export (?:type|interface) /m);
  assert.notEqual(blocks.length, 0);
  for (const block of blocks) await compiles(block, seeds);
};

/** Our class has every public method that the document prints. */
export const holdsMachine: Runner = ({ id, text }, seeds) => {
  assert.match(text, /state\.ts$/);
  const names = blocksOf(seeds, id.slice(0, 3), /^\w+\(.*\): .* \{$/m).map(
    (block) => /^(\w+)\(/m.exec(block.text)?.[1] ?? '',
  );
  assert.notEqual(names.length, 0);
  for (const name of names)
    assert.equal(typeof Reflect.get(library.WorkflowStateMachine.prototype, name), 'function', name);
};

/** Our server is in the same place and lists every tool that the document calls. */
export const holdsServer: Runner = ({ id, text }, seeds) => {
  assert.ok(existsSync(join(root, text)));
  const called = seeds
    .of(id.slice(0, 3))
    .filter(({ kind, text: name }) => kind === 'command' && /^workflow_\w+$/.test(name));
  const listed = listedTools().map(({ name }) => name);
  assert.notEqual(called.length, 0);
  for (const each of called) assert.ok(listed.includes(each.text), each.text);
};

/** The tests that the plan puts into this file pass here. */
export const holdsTests: Runner = async ({ text }, seeds) => {
  assert.match(text, /workflow\.test\.ts$/);
  const blocks = testBlocks(seeds, '001');
  assert.notEqual(blocks.length, 0);
  for (const block of blocks) await testsPass(block, seeds);
};

/** Our loader refuses what the code for this file refuses. */
export const holdsLoader: Runner = async ({ text }, seeds) => {
  assert.match(text, /loader\.ts$/);
  const blocks = blocksOf(seeds, '001', /^if \(step\.context/m);
  assert.notEqual(blocks.length, 0);
  for (const block of blocks) await refusesAsOurs(block, seeds);
};

/** The package exports what the document's script takes from this file. */
export const holdsExports: Runner = ({ text }, seeds) => {
  const script = seeds
    .of('001')
    .find((each) => each.kind === 'command' && each.text.includes(`require('./${text}')`));
  const names =
    /\{ ([\w, ]+) \} = require/.exec(script?.text ?? '')?.[1]?.split(', ') ?? assert.fail('no script');
  for (const name of names) assert.equal(typeof Reflect.get(library, name), 'function', name);
};

/** `stepfast mcp` takes every option that the document gives this program. */
export const takesOptions: Runner = async ({ text }, seeds) => {
  const command = seeds
    .of('001')
    .find((each) => each.kind === 'command' && each.text.startsWith(`node ${text} `));
  const options = command?.text.match(/--[a-z-]+/g) ?? assert.fail('no command');
  const help = await seeds.project().run(['mcp', '--help']);
  for (const option of options) assert.ok(help.stdout.includes(option), option);
};

/** A state that Lanes saved in the worktree under this name is where the run goes on. */
export const takesSavedState: Runner = async ({ text }, seeds) => {
  const yaml = seeds.sample('001/block-17').text;
  const machine = new library.WorkflowStateMachine(library.loadWorkflowTemplateFromString(yaml), {
    summary: 'Saved',
  });
  machine.advance('The ideas.');
  const saved = machine.getState();
  assert.match(text, /\.json$/);
  const project = seeds.project({
    '.lanes/workflows/context-example.yaml': yaml,
    [text]: JSON.stringify(saved),
  });
  const started = await callOurs(project, 'workflow_start', { workflow: 'context-example' });
  assert.equal(started.step, saved.step, JSON.stringify(started));
  const { outputs, summary } = await (await project.onlyRun()).state();
  assert.deepEqual([outputs.brainstorm?.text, summary], ['The ideas.', 'Saved']);
};
