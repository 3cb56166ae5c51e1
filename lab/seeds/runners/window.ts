/** The context manager of 003: the library, and the texts that a run keeps through its reviews. */
import assert from 'node:assert/strict';
import { createContextWindow } from '../../../src/context/library.ts';
import type { TestProject } from '../../../src/testing/index.ts';
import type { Runner } from '../row.ts';
import { callOurs } from './handlers.ts';

const talk = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `message ${index} `.repeat(40));

/** The prompt is at the first index that is printed, the conversation at the second and on. */
export const indexes: Runner = ({ text }) => {
  const [prompt, rest] = [...text.matchAll(/\(Index (\d)\+?\)/g)].map(([, index]) => Number(index));
  assert.ok(prompt !== undefined && rest !== undefined);
  const window = createContextWindow({ systemPrompt: 'Plan: state' });
  window.append('user', 'Please begin.');
  const messages = window.messages();
  assert.deepEqual(messages[prompt], { role: 'system', content: 'Plan: state' });
  assert.deepEqual(messages.slice(rest), window.conversation());
};

/** Every method of the printed interface is one of ours and does what its comment says. */
export const interfaceMethods: Runner = async ({ text }) => {
  const printed = [...text.matchAll(/^\s+([A-Z]\w+)\(([^)]*)\)/gm)].map(([, name = '', parameters = '']) => ({
    name: name.charAt(0).toLowerCase() + name.slice(1),
    count: parameters === '' ? 0 : parameters.split(',').length,
  }));
  assert.notEqual(printed.length, 0);
  const window = createContextWindow({ systemPrompt: 'first' });
  for (const { name, count } of printed) {
    const method: unknown = Reflect.get(window, name);
    assert.ok(typeof method === 'function', `${name} is missing`);
    assert.ok(method.length <= count, `${name} takes ${method.length} arguments`);
  }
  for (const role of ['user', 'assistant', 'user'] as const) window.append(role, role.repeat(400));
  window.resetSystemPrompt('second');
  assert.equal(window.systemPrompt().content, 'second');
  assert.equal(window.conversation().length, 3);
  await window.compact(300);
  assert.equal(window.messages()[0]?.content, 'second');
};

/** Index 0 and the last two messages survive every compaction. */
export const keepsEnds: Runner = async ({ text }) => {
  assert.match(text, /contextmgr/);
  const window = createContextWindow({ systemPrompt: 'the contract' });
  for (const content of talk(40)) window.append('user', content);
  for (let cycle = 0; cycle < 3; cycle += 1) {
    // Together they are more than a compaction leaves of anything else.
    const last = [`answer ${cycle} `.repeat(60), `question ${cycle} `.repeat(60)] as const;
    window.append('assistant', last[0]);
    window.append('user', last[1]);
    await window.compact(600);
    assert.deepEqual(window.messages()[0], { role: 'system', content: 'the contract' });
    const kept = window.conversation().slice(-2);
    assert.deepEqual(
      kept.map(({ content }) => content),
      last,
    );
  }
  assert.ok(window.conversation().length < 40);
};

/** The printed line, with its tag, its quotes and the feedback in them, after a pivot of a budget review. */
export const budgetPivot: Runner = async ({ text }, seeds) => {
  const [, before = '', tag = '', after = ''] = /(\*\*\[(\w+)\]:\*\* ")<text>(")/.exec(text) ?? [];
  assert.notEqual(tag, '');
  const feedback = 'Use one table';
  const window = createContextWindow({ systemPrompt: 'Story' });
  window.pin(tag, `  ${feedback}  `);
  const { content } = window.systemPrompt();
  assert.ok(content.includes(`${before}${feedback}${after}`), content);
  const kit = seeds.hooks({
    '.stepfast/workflows/w.yaml': `name: w
description: W
steps:
  - { id: planning, type: action, instructions: Plan it }
  - { id: coding, type: action, instructions: Code it, budget: { turns: 1, on_pivot: planning } }
`,
  });
  const { run } = await kit.start();
  const at = await kit.call(run, { type: 'advance', output: 'The plan.' });
  await kit.called('a', { run, at });
  for (let turn = 0; turn < 3; turn += 1) {
    // What the host writes down of a turn, later than the moment at which the session joined.
    const timestamp = new Date(Date.now() + 1000 * (turn + 1)).toISOString();
    const usage = { input_tokens: 10, output_tokens: 10 };
    kit.writeDown({ type: 'user', timestamp, promptId: `turn-${turn}` });
    kit.writeDown({ type: 'assistant', timestamp, message: { id: `m${turn}`, model: 'm', usage } });
    await kit.fire('Stop');
  }
  await decides(kit.project, ['review', 'pivot', '--feedback', feedback]);
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  assert.ok(context.includes(`${before}${feedback}${after}`), context);
};

/** The feedback of a plan review is kept under its tag after a pivot, and through a compaction. */
export const reviewFeedback: Runner = async ({ text }, seeds) => {
  assert.match(text, /driver/);
  const kit = seeds.hooks({
    '.stepfast/workflows/w.yaml': `name: w
description: W
steps:
  - { id: planning, type: action, instructions: Plan it }
  - { id: plan_review, type: action, instructions: Show it, review: { by: human, on_pivot: planning } }
`,
  });
  const { run } = await kit.start();
  await kit.call(run, { type: 'advance', output: 'The plan.' });
  const at = await kit.call(run, { type: 'advance', output: 'Ready.' });
  await kit.called('a', { run, at });
  await decides(kit.project, ['review', 'pivot', '--feedback', 'Use one table']);
  for (let cycle = 0; cycle < 2; cycle += 1) {
    const { context } = await kit.fire('SessionStart', { source: 'compact' });
    assert.match(context, /\*\*\[\w+_FEEDBACK\]:\*\* "Use one table"/);
  }
};

/** The phase of this template in the bundled workflow: rendered from static data and state, without conversation. */
export const phaseTemplate: Runner = async ({ text }, seeds) => {
  const phase = /^(planning|coding)\.tpl\.md$/.exec(text)?.[1] ?? assert.fail('no template');
  const project = seeds.project({ 'spec.md': 'The spec\n', 'plan.md': 'The plan\n' });
  const inputs = { story: 'Sign in with a passkey' };
  let reply = await callOurs(project, 'workflow_start', { workflow: 'spec-feature', inputs });
  if (phase === 'coding') {
    for (const [key, path] of [
      ['spec_path', 'spec.md'],
      ['plan_path', 'plan.md'],
    ] as const)
      await callOurs(project, 'workflow_note', { kind: 'artefact', key, text: path });
    reply = await callOurs(project, 'workflow_advance', { output: 'The plan.' });
    reply = await callOurs(project, 'workflow_advance', { output: 'Ready.' });
    await decides(project, ['approve']);
    reply = await callOurs(project, 'workflow_status');
    assert.equal(reply.contextAction, '/clear');
    reply = await callOurs(project, 'workflow_status');
  }
  assert.equal(reply.step, phase);
  const instructions = String(reply.instructions);
  assert.equal(instructions.includes(inputs.story), phase === 'planning');
  assert.doesNotMatch(instructions, /\{[\w.]+\}|\{\{/);
};

async function decides(project: TestProject, argv: readonly string[]): Promise<void> {
  const { code, stderr } = await project.run(argv, { terminal: true, input: ['y', 'y'] });
  assert.equal(code, 0, stderr);
}
