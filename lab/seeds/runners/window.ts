/** The context manager of 003: the library, and the texts that a run keeps through its reviews. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContextWindow } from '../../../src/context/library.ts';
import type { TestProject } from '../../../src/testing/index.ts';
import { check } from '../check.ts';
import { action, callOurs, yamlOf } from './tools.ts';

export const layout = check('`ContextWindow`: prompt and conversation are at these indexes', ({ text }) => {
  const [prompt, rest] = [...text.matchAll(/\(Index (\d)\+?\)/g)].map(([, index]) => Number(index));
  assert.ok(prompt !== undefined && rest !== undefined);
  const window = createContextWindow({ systemPrompt: 'Plan: state' });
  window.append('user', 'Please begin.');
  const messages = window.messages();
  assert.deepEqual(messages[prompt], { role: 'system', content: 'Plan: state' });
  assert.deepEqual(messages.slice(rest), window.conversation());
});

export const goInterface = check(
  '`stepfast/context`: every method is there and does what its comment says',
  async ({ text }) => {
    const printed = [...text.matchAll(/^\s+([A-Z]\w+)\(([^)]*)\)/gm)];
    assert.notEqual(printed.length, 0);
    const window = createContextWindow({ systemPrompt: 'first' });
    for (const [, name = '', parameters = ''] of printed) {
      const method: unknown = Reflect.get(window, name.charAt(0).toLowerCase() + name.slice(1));
      assert.ok(typeof method === 'function', `${name} is missing`);
      const most = parameters === '' ? 0 : parameters.split(',').length;
      assert.ok(method.length <= most, `${name} takes ${method.length} arguments`);
    }
    for (const role of ['user', 'assistant', 'user'] as const) window.append(role, role.repeat(400));
    window.resetSystemPrompt('second');
    assert.equal(window.systemPrompt().content, 'second');
    assert.equal(window.conversation().length, 3);
    await window.compact(300);
    assert.equal(window.messages()[0]?.content, 'second');
  },
);

export const manager = check(
  '`stepfast/context`: index 0 and the last two messages survive compactions',
  async ({ text }) => {
    assert.match(text, /contextmgr/);
    const window = createContextWindow({ systemPrompt: 'the contract' });
    for (let count = 0; count < 40; count += 1) window.append('user', `message ${count} `.repeat(40));
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
  },
);

async function decides(project: TestProject, argv: readonly string[]): Promise<void> {
  const { code, stderr } = await project.run(argv, { terminal: true, input: ['y', 'y'] });
  assert.equal(code, 0, stderr);
}

const feedback = 'Use one table';
/** The second step can send the run back to the first. */
const planned = (second: object): Record<string, string> => ({
  '.stepfast/workflows/w.yaml': yamlOf({ steps: [action('planning'), action('second', second)] }),
});

export const pivot = check(
  '`pin`, and a pivot of a budget review: the line is in the prompt and the briefing',
  async ({ text }, seeds) => {
    const [, before = '', tag = '', after = ''] = /(\*\*\[(\w+)\]:\*\* ")<text>(")/.exec(text) ?? [];
    assert.notEqual(tag, '');
    const line = `${before}${feedback}${after}`;
    const window = createContextWindow({ systemPrompt: 'Story' });
    window.pin(tag, `  ${feedback}  `);
    assert.ok(String(window.systemPrompt().content).includes(line));
    const kit = seeds.hooks(planned({ budget: { turns: 1, on_pivot: 'planning' } }));
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
    assert.ok(context.includes(line), context);
  },
);

export const reviewFeedback = check(
  'a pivot of a plan review: the feedback is in every briefing, under its tag',
  async ({ text }, seeds) => {
    assert.match(text, /driver/);
    const kit = seeds.hooks(planned({ review: { by: 'human', on_pivot: 'planning' } }));
    const { run } = await kit.start();
    await kit.call(run, { type: 'advance', output: 'The plan.' });
    const at = await kit.call(run, { type: 'advance', output: 'Ready.' });
    await kit.called('a', { run, at });
    await decides(kit.project, ['review', 'pivot', '--feedback', feedback]);
    for (let cycle = 0; cycle < 2; cycle += 1) {
      const { context } = await kit.fire('SessionStart', { source: 'compact' });
      assert.match(context, /\*\*\[\w+_FEEDBACK\]:\*\* "Use one table"/);
    }
  },
);

const story = { workflow: 'spec-feature', inputs: { story: 'Sign in with a passkey' } };

export const phaseTemplate = check(
  'the phase in `spec-feature`: rendered from inputs and state, no placeholder left',
  async ({ text }, seeds) => {
    const phase = /^(planning|coding)\.tpl\.md$/.exec(text)?.[1] ?? assert.fail('no template');
    const project = seeds.project({ 'spec.md': 'The spec\n', 'plan.md': 'The plan\n' });
    let reply = await callOurs(project, 'workflow_start', story);
    if (phase === 'coding') {
      for (const name of ['spec', 'plan'])
        await callOurs(project, 'workflow_note', {
          kind: 'artefact',
          key: `${name}_path`,
          text: `${name}.md`,
        });
      for (const output of ['The plan.', 'Ready.']) await callOurs(project, 'workflow_advance', { output });
      await decides(project, ['approve']);
      reply = await callOurs(project, 'workflow_status');
      assert.equal(reply.contextAction, '/clear');
      reply = await callOurs(project, 'workflow_status');
    }
    assert.equal(reply.step, phase);
    const instructions = String(reply.instructions);
    assert.equal(instructions.includes(story.inputs.story), phase === 'planning');
    assert.doesNotMatch(instructions, /\{[\w.]+\}|\{\{/);
  },
);

export const todoList = check(
  'called in `spec-feature`: replaces the list in the file, shows edits by hand, stays out of the briefing',
  async ({ kind, text }, seeds) => {
    const [tool, file] =
      kind === 'file' ? [seeds.text('003/command-1'), text] : [text, seeds.text('003/file-5')];
    const project = seeds.project();
    await callOurs(project, 'workflow_start', story);
    for (const content of ['- [ ] first point\n', '- [x] second point\n'])
      assert.equal((await callOurs(project, tool, { content })).isError, false);
    const path = join(project.root, file);
    assert.equal(readFileSync(path, 'utf8'), '- [x] second point\n');
    writeFileSync(path, '- [ ] third point\n');
    assert.match((await project.run(['todo'])).stdout, /third point/);
    const briefing = await project.run(['prime']);
    assert.equal(briefing.code, 0);
    assert.doesNotMatch(briefing.stdout, /third point/);
  },
);
