import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import type { Runtime } from '../runtime/index.ts';
import { contextFor } from './context.ts';
import { refusalAnswer } from './refusal-answer.ts';
import { namedWorkflows, offeredWorkflows } from './workflows.ts';

export const listedPrompts: readonly Prompt[] = [
  {
    name: 'prime',
    title: 'Restore the run',
    description: 'The briefing of the current run',
    arguments: [{ name: 'at', description: 'a handle, where several positions are open' }],
  },
  { name: 'status', title: 'Status of the run', description: 'Position, waiting, failed gates' },
  {
    name: 'start',
    title: 'Start a workflow',
    description: 'Ask the agent to start a run',
    arguments: [
      { name: 'workflow', description: 'name or file' },
      { name: 'summary', description: 'the work in ten words' },
    ],
  },
];

/** undefined if there is no such prompt. A prompt never makes a person's decision. */
export async function getPrompt(
  name: string,
  given: Readonly<Record<string, string>>,
  runtime: Runtime,
  session: string,
): Promise<GetPromptResult | undefined> {
  if (name === 'start') return said(await startText(given, runtime));
  if (name !== 'prime' && name !== 'status') return undefined;
  const answer = await contextFor(name === 'status' ? { section: 'status' } : given, runtime, {
    session,
  });
  if ('text' in answer) return said(answer.text);
  const { message, next } = await refusalAnswer(answer.refused, runtime);
  return said(`Stepfast: ${message} ${next}`);
}

async function startText(
  { workflow, summary }: Readonly<Record<string, string>>,
  runtime: Runtime,
): Promise<string> {
  const given = { ...(workflow ? { workflow } : {}), ...(summary ? { summary } : {}) };
  const offered = `The workflows with their inputs: ${namedWorkflows(await offeredWorkflows(runtime))}.`;
  return `Call workflow_start with ${JSON.stringify(given)} and the inputs that it needs. ${offered} Do what its answer says, then report with workflow_advance and the answer's \`at\`, until the status is complete.`;
}

const said = (text: string): GetPromptResult => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
});
