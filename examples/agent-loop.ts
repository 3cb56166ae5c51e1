/**
 * An agent loop on the AI SDK whose context stays within a limit: `node examples/agent-loop.ts`. A run of a workflow
 * is the state that comes back after each compaction. The model is a script, so it needs no key and asserts its own
 * results.
 */
import assert from 'node:assert/strict';
import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import * as z from 'zod';
import { type Compaction, createContextWindow, createPrepareStep } from '../src/context/library.ts';
import { loadWorkflowTemplateFromString, WorkflowStateMachine } from '../src/index.ts';
import { filesOf, scriptedModel, summariser } from './scripted-model.ts';

const workflow = `
name: export
description: Add a CSV export
steps:
  - id: plan
    type: action
    instructions: Read what is there and decide on a plan.
  - id: code
    type: action
    instructions: Write the export.
  - id: verify
    type: action
    instructions: Read what was written and check it against the plan.
`;

const story =
  'As an accountant I want every report as CSV, with a header line, in the encoding of my locale.';
const maxTokens = 3000;

export async function main() {
  const machine = new WorkflowStateMachine(loadWorkflowTemplateFromString(workflow), { summary: story });
  const model = scriptedModel();
  const compactions: Compaction[] = [];

  // #region loop
  const promptFor = (step: string, instructions: string | undefined): string =>
    `You are a careful programmer.\n\nStory: ${story}\n\nStep ${step}: ${instructions}`;

  const window = createContextWindow<ModelMessage>({
    systemPrompt: promptFor(machine.getState().step, machine.getStatus().instructions),
    summarise: async (messages) => {
      const asked: ModelMessage = { role: 'user', content: 'Summarise our work so far in ten lines.' };
      const { text } = await generateText({ model: summariser, messages: [...messages, asked] });
      return text;
    },
    onCompacted: () => {
      const { step, outputs } = machine.getState();
      const done = Object.entries(outputs).map(([key, output]) => `- ${key}: ${output}`);
      return [`The run is at step "${step}". Done so far:`, ...done].join('\n');
    },
  });

  const tools = {
    read_file: tool({
      description: 'Read a file',
      inputSchema: z.object({ path: z.string() }),
      execute: ({ path }) => filesOf(path),
    }),
    decide: tool({
      description: 'Record a decision that must not be forgotten',
      inputSchema: z.object({ key: z.string(), decision: z.string() }),
      execute: ({ key, decision }) => {
        window.pin(key, decision);
        return 'noted';
      },
    }),
    advance: tool({
      description: 'Complete the step',
      inputSchema: z.object({ output: z.string() }),
      execute: ({ output }) => {
        const { status, instructions } = machine.advance(output);
        if (status === 'running') window.resetSystemPrompt(promptFor(machine.getState().step, instructions));
        return status;
      },
    }),
  };

  window.append('user', 'Please begin.');
  const result = await generateText({
    model,
    tools,
    messages: window.conversation(),
    prepareStep: createPrepareStep(window, { maxTokens, onCompaction: (each) => compactions.push(each) }),
    stopWhen: isStepCount(50),
  });
  window.push(...result.finalStep.response.messages);
  // #endregion

  assert.equal(machine.getState().status, 'complete');
  assert.ok(compactions.length >= 2, `${compactions.length} compactions`);
  for (const { after, summarised, problems } of compactions) {
    assert.ok(after <= maxTokens);
    assert.ok(summarised);
    assert.deepEqual(problems, []);
  }
  const requests = model.doGenerateCalls.map(({ prompt }) => prompt);
  for (const [system, first, ...others] of requests) {
    assert.match(String(system?.content), /^You are a careful programmer\.\n\nStory: As an accountant/);
    assert.equal(first?.role, 'user');
    assert.ok(others.every(({ role }) => role !== 'system'));
  }
  const last = requests.at(-1) ?? [];
  assert.match(
    String(last[0]?.content),
    /Step verify: .*\n\n\*\*\[WRITER\]:\*\* "Stream the rows; never hold a report in memory\."/s,
  );
  const said = JSON.stringify(last);
  assert.equal(said.split('The run is at step').length, 2, 'one state, however many compactions');
  assert.match(said, /The run is at step \\"verify\\". Done so far:\\n- plan: .*\\n- code: /);
  assert.equal(said.split(story).length, 2, 'the story is there once');
  assert.equal(window.messages().at(-1)?.role, 'assistant');
  return { requests: requests.length, compactions, window };
}

if (process.argv[1] === import.meta.filename) {
  const { requests, compactions } = await main();
  for (const { before, after, dropped } of compactions)
    console.log(`compacted from ${before} to ${after} tokens, ${dropped} messages`);
  console.log(`${requests} requests, none over ${maxTokens} tokens`);
}
