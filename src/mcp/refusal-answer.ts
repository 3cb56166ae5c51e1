import { bounded, firstWithin } from '../messages/index.ts';
import type { Refused, Runtime, Who } from '../runtime/index.ts';
import { namedWorkflows, offeredWorkflows } from './workflows.ts';

/** A refusal as a client sees it: the four keys, and the instructions or runs that come with some. */
export const refusalAnswer = ({ code, message, next, at, instructions, runs }: Refused): Refused => ({
  code,
  message: firstWithin(message, 150),
  next: firstWithin(next, 150),
  ...(at === undefined ? {} : { at }),
  ...(instructions === undefined ? {} : { instructions: bounded(instructions) }),
  ...(runs ? { runs: runs.map((run) => firstWithin(run, 40)) } : {}),
});

/** The same "no" for somebody who has tools: what to call instead. */
export async function forTools(refused: Refused, runtime: Runtime, { witness }: Who = {}): Promise<Refused> {
  switch (refused.code) {
    case 'no_workflow': {
      const offered = namedWorkflows(await offeredWorkflows(runtime));
      return { ...refused, next: `call workflow_start with one of: ${offered}` };
    }
    case 'bad_input': {
      const [, missing] = /needs the input '(.+)'$/.exec(refused.message) ?? [];
      if (missing === undefined) return refused;
      return { ...refused, next: `call workflow_start with inputs { ${missing}: "…" }` };
    }
    case 'several_runs': {
      const next = refused.next.replace(
        /^say which:/,
        'pass at, or call workflow_start with run_id, one of:',
      );
      return { ...refused, next };
    }
    case 'own_work': {
      // Where hooks tell who calls, a subagent is known as itself.
      const whose = witness ? 'a subagent' : 'a session of its own: your subagents count as you';
      const next = `${refused.next}, in ${whose}`;
      return { ...refused, next };
    }
    default:
      return { ...refused, next: toolWords(refused.next) };
  }
}

const toolWords = (next: string): string =>
  next
    .replace(/^start one$/, 'call workflow_start')
    .replace(/^start one, or name a run$/, 'call workflow_start, with run_id to go on with a run, or pass at')
    .replace(/^ask for the status/, 'call workflow_status')
    .replace(/^claim /, 'call workflow_claim for ')
    .replace(/^set the tasks of '([^']+)'/, "call workflow_set_tasks with loop_id '$1'");
