import {
  bounded,
  firstWithin,
  type RefusalText,
  type Refused,
  refusalText,
  toolVoice,
} from '../messages/index.ts';
import type { CallerIdentity, Runtime } from '../runtime/index.ts';
import { namedWorkflows, offeredWorkflows } from './workflows.ts';

/** A refusal for a client, within a token budget; lists the workflows if the client named none. */
export async function refusalAnswer(
  refused: Refused,
  runtime: Runtime,
  { witness }: CallerIdentity = {},
): Promise<RefusalText> {
  const workflows =
    refused.code === 'no_workflow' ? { workflows: namedWorkflows(await offeredWorkflows(runtime)) } : {};
  const text = refusalText(refused, toolVoice({ ...workflows, witnessed: witness !== undefined }));
  const { message, next, instructions, runs } = text;
  return {
    ...text,
    message: firstWithin(message, 150),
    next: firstWithin(next, 150),
    ...(instructions === undefined ? {} : { instructions: bounded(instructions) }),
    ...(runs ? { runs: runs.map((run) => firstWithin(run, 40)) } : {}),
  };
}
