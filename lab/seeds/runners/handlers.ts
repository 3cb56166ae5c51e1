/** The tool handlers as the documents print them, around our machine, against our own tools. */
import assert from 'node:assert/strict';
import {
  loadWorkflowTemplateFromString,
  type WorkflowState,
  WorkflowStateMachine,
  WorkflowValidationError,
} from '../../../src/index.ts';
import { callTool } from '../../../src/mcp/calls.ts';
import type { TestProject } from '../../../src/testing/index.ts';
import { runPrinted } from '../../../test/kit/printed-tests.ts';
import type { Runner, Seeds } from '../row.ts';

const workflow = `name: w
description: A step after a clear, one after a compaction, a plain one
steps:
  - { id: one, type: action, context: clear, instructions: Do one }
  - { id: two, type: action, context: compact, instructions: Do two }
  - { id: three, type: action, instructions: Do three }
`;
const plain = `name: w
description: Plain steps
steps:
  - { id: one, type: action, instructions: Do one }
  - { id: two, type: action, instructions: Do two }
`;

export interface ToolReply {
  isError: boolean;
  [key: string]: unknown;
}

/** A call of our tool, in this process. */
export async function callOurs(
  project: TestProject,
  tool: string,
  given: Record<string, unknown> = {},
  session = 'seeds',
): Promise<ToolReply> {
  const caller = { who: { session }, options: {} };
  const answer = await callTool(tool, given, project.runtime(), caller);
  if ('text' in answer) return { isError: false, text: answer.text };
  return 'refused' in answer
    ? { ...answer.refused, isError: true }
    : { ...answer.structured, isError: false };
}

interface Printed {
  machine: WorkflowStateMachine | undefined;
  saved: WorkflowState[];
  summaries: (string | undefined)[];
  call(tool: string, toolArgs?: unknown): Promise<Record<string, unknown>>;
}

/** A server whose handler is the printed code; `body` puts the code where it belongs. */
function printedServer(yaml: string, body: string): Printed {
  const template = loadWorkflowTemplateFromString(yaml);
  const server: Printed = { machine: undefined, saved: [], summaries: [], call };
  const tools = {
    saveState: async (_: string, state: WorkflowState) => void server.saved.push(state),
    workflowStatus: (machine: WorkflowStateMachine) => machine.getStatus(),
    workflowAdvance: async (machine: WorkflowStateMachine, output: string) => machine.advance(output),
  };
  const initializeMachine = async (summary?: string): Promise<WorkflowStateMachine> => {
    server.summaries.push(summary);
    return new WorkflowStateMachine(template);
  };
  return server;

  async function call(tool: string, toolArgs?: unknown): Promise<Record<string, unknown>> {
    const names = { tool, toolArgs, tools, initializeMachine, worktreePath: '.', started: server.machine };
    const code = `return (async () => { let machine = started; const answer = await (async () => {${body}})(); return { machine, answer }; })();`;
    const { machine, answer } = (await runPrinted(code, names)) as Pick<Printed, 'machine'> & {
      answer?: { content: { text: string }[] };
    };
    server.machine = machine;
    return JSON.parse(answer?.content[0]?.text ?? '{}');
  }
}

const inSwitch = (text: string): string => `switch (tool) {\n${text}\n}`;

const projectWith = (seeds: Seeds, yaml: string): TestProject =>
  seeds.project({ '.stepfast/workflows/w.yaml': yaml });

/** The pending action is answered first, after it was saved; then the position is open. Ours does the same. */
export const asksForContext: Runner = async ({ text }, seeds) => {
  const theirs = printedServer(workflow, text);
  theirs.machine = new WorkflowStateMachine(loadWorkflowTemplateFromString(workflow));
  const asked = await theirs.call('workflow_start');
  assert.equal(theirs.saved[0]?.contextActionExecuted, true);
  const project = projectWith(seeds, workflow);
  const ours = await callOurs(project, 'workflow_start', { workflow: 'w' });
  assert.deepEqual(keysOf(ours, asked), asked);
  assert.deepEqual(await theirs.call('workflow_status'), {});
  assert.equal((await callOurs(project, 'workflow_status')).instructions, 'Do one');
};

export const startsAsOurs: Runner = async ({ text }, seeds) => {
  for (const yaml of [workflow, plain]) {
    for (const summary of [undefined, '  short  ', 'long '.repeat(40)]) {
      const theirs = printedServer(yaml, inSwitch(text));
      const first = await theirs.call('workflow_start', { summary });
      const project = projectWith(seeds, yaml);
      const ours = await callOurs(project, 'workflow_start', { workflow: 'w', summary });
      assert.equal(ours.contextAction, first.contextAction);
      assert.equal(ours.isError, false);
      if (first.contextAction === undefined) assert.equal(ours.instructions, first.instructions);
      assert.equal((await (await project.onlyRun()).state()).summary, theirs.summaries[0]);
      const [again, oursAgain] = [
        await theirs.call('workflow_start'),
        await callOurs(project, 'workflow_start'),
      ];
      assert.equal(theirs.summaries.length, 1);
      assert.equal(oursAgain.run, ours.run);
      assert.equal(again.instructions, oursAgain.instructions);
    }
  }
};

export const advancesAsOurs: Runner = async ({ text }, seeds) => {
  const theirs = printedServer(workflow, inSwitch(text));
  const project = projectWith(seeds, workflow);
  await assert.rejects(theirs.call('workflow_advance', { output: 'done' }));
  assert.equal((await callOurs(project, 'workflow_advance', { output: 'done' })).isError, true);
  theirs.machine = new WorkflowStateMachine(loadWorkflowTemplateFromString(workflow));
  theirs.machine.markContextActionExecuted();
  await callOurs(project, 'workflow_start', { workflow: 'w' });
  await callOurs(project, 'workflow_status');
  const asked = await theirs.call('workflow_advance', { output: 'done' });
  const ours = await callOurs(project, 'workflow_advance', { output: 'done' });
  assert.deepEqual(keysOf(ours, asked), asked);
  assert.equal(theirs.saved[0]?.contextActionExecuted, true);
  assert.equal((await callOurs(project, 'workflow_status')).instructions, 'Do two');
  // An output may be left out.
  const next = await theirs.call('workflow_advance', {});
  const oursNext = await callOurs(project, 'workflow_advance', {});
  assert.equal(oursNext.isError, false);
  assert.equal(oursNext.instructions, next.instructions);
  assert.equal(oursNext.instructions, 'Do three');
  await assert.rejects(theirs.call('workflow_advance', { output: 5 }));
};

/** The message is worded by each side. */
function keysOf(ours: ToolReply, theirs: Record<string, unknown>): Record<string, unknown> {
  assert.ok(typeof theirs.contextAction === 'string');
  assert.equal(typeof ours.message, typeof theirs.message);
  return {
    ...Object.fromEntries(Object.keys(theirs).map((key) => [key, ours[key]])),
    message: theirs.message,
  };
}

/** The printed check throws for exactly those values that our loader refuses. */
export const refusesAsOurs: Runner = ({ text }) => {
  const place = /\bLoop step\b/.test(text) ? 'sub-step' : 'step';
  let refused = 0;
  for (const context of [undefined, 'compact', 'clear', 'invalid', 'Compact', '', 5, true, null]) {
    const theirs = outcomeOf(() =>
      runPrinted(text, { step: { context }, stepId: 'one', WorkflowValidationError }),
    );
    const ours = outcomeOf(() => loadWorkflowTemplateFromString(workflowWith(place, context)));
    assert.equal(ours, theirs, `context: ${context}`);
    if (theirs === 'refused') refused += 1;
  }
  assert.notEqual(refused, 0);
};

function workflowWith(place: 'step' | 'sub-step', context: unknown): string {
  const [step, subStep] = [
    { id: 'one', instructions: 'Do one', context },
    { id: 'two', instructions: 'Do two' },
  ];
  const steps = place === 'step' ? [{ ...step, type: 'action' }] : [{ id: 'work', type: 'loop' }];
  const loops = place === 'step' ? {} : { loops: { work: [step, subStep] } };
  return JSON.stringify({ name: 'w', description: 'W', ...loops, steps });
}

function outcomeOf(act: () => unknown): 'accepted' | 'refused' {
  try {
    act();
    return 'accepted';
  } catch (error) {
    if (error instanceof WorkflowValidationError) return 'refused';
    throw error;
  }
}
