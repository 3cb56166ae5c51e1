/** The tool handlers as the documents print them, around our machine, against our own tools. */
import assert from 'node:assert/strict';
import {
  loadWorkflowTemplateFromString,
  type WorkflowState,
  WorkflowStateMachine,
} from '../../../src/index.ts';
import { check, type Seeds } from '../check.ts';
import { runPrinted } from './code.ts';
import { callOurs, plain, projectOf, startsIn, withActions, yamlOf } from './tools.ts';

interface Play {
  workflow?: object;
  /** Whether the printed code finds a machine, and whether its first context action was asked for. */
  machine?: 'new' | 'asked';
  calls: [tool: string, given?: Record<string, unknown>][];
}

/** By the tool whose case is printed; '' is for statements before any answer. */
const plays: Record<string, Play[]> = {
  '': [{ machine: 'new', calls: [['workflow_start'], ['workflow_status']] }],
  workflow_start: [withActions, plain].flatMap((workflow) =>
    [undefined, '  short  ', 'long '.repeat(40)].map(
      (summary): Play => ({ workflow, calls: [['workflow_start', { summary }], ['workflow_start']] }),
    ),
  ),
  workflow_advance: [
    { calls: [['workflow_advance', { output: 'too early' }]] },
    {
      machine: 'asked',
      calls: [['workflow_advance', { output: 'done' }], ['workflow_status'], ['workflow_advance', {}]],
    },
  ],
};

export const answersAlike = check(
  'called as the tool it is for: context actions, instructions, summaries and refusals are ours',
  async ({ text }, seeds) => {
    const [, tool = ''] = /^case '(\w+)'/.exec(text) ?? [];
    for (const each of plays[tool] ?? assert.fail(`no play for ${tool}`)) await play(each, text, seeds);
  },
);

async function play(
  { workflow = withActions, machine, calls }: Play,
  text: string,
  seeds: Seeds,
): Promise<void> {
  const project = projectOf(seeds, workflow);
  const template = loadWorkflowTemplateFromString(yamlOf(workflow));
  const saved: WorkflowState[] = [];
  const summaries: (string | undefined)[] = [];
  const server = {
    worktreePath: '.',
    started: machine && new WorkflowStateMachine(template),
    initializeMachine: async (summary?: string) => {
      summaries.push(summary);
      return new WorkflowStateMachine(template);
    },
    tools: {
      saveState: async (_: string, state: WorkflowState) => void saved.push(state),
      workflowStatus: (of: WorkflowStateMachine) => of.getStatus(),
      workflowAdvance: async (of: WorkflowStateMachine, output: string) => of.advance(output),
    },
  };
  if (machine === 'asked') {
    server.started?.markContextActionExecuted();
    await startsIn(project);
    await callOurs(project, 'workflow_status');
  }
  const body = text.startsWith('case ') ? `switch (tool) {\n${text}\n}` : text;
  const code = `return (async () => { let machine = started; const answer = await (async () => {${body}})(); return { machine, answer }; })();`;
  for (const [index, [tool, toolArgs]] of calls.entries()) {
    const first = tool === 'workflow_start' && index === 0 ? { workflow: 'w' } : {};
    const ours = await callOurs(project, tool, { ...toolArgs, ...first });
    const printed = runPrinted(code, { ...server, tool, toolArgs }) as Promise<{
      machine?: WorkflowStateMachine;
      answer?: { content: { text: string }[] };
    }>;
    const theirs = await printed.catch(() => undefined);
    assert.equal(ours.isError, theirs === undefined, JSON.stringify(ours));
    if (theirs === undefined) continue;
    server.started = theirs.machine;
    const answer = JSON.parse(theirs.answer?.content[0]?.text ?? '{}');
    assert.equal(ours.contextAction, answer.contextAction);
    if (answer.contextAction !== undefined) {
      assert.equal(typeof ours.message, typeof answer.message);
      assert.equal(saved.at(-1)?.contextActionExecuted, true);
    } else if ('instructions' in answer) assert.equal(ours.instructions, answer.instructions);
  }
  if (summaries.length > 0) assert.deepEqual(summaries, [(await (await project.onlyRun()).state()).summary]);
}
