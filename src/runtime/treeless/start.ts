import type { Engine } from '../../engine/index.ts';
import { ended, shortSummary } from '../../machine/index.ts';
import type { OpeningCommand } from '../../schema/index.ts';
import type { RunInfo } from '../../store/index.ts';
import { type Answer, isRefused, type Refused } from '../answer.ts';
import type { Who } from '../call-context.ts';
import type { StartRequest } from '../start.ts';
import type { Moment } from './moment.ts';
import type { Workflows } from './workflows.ts';

interface Options {
  engine: Engine;
  moment: Moment;
  workflows: Workflows;
  which(wanted: { run: string }): Promise<{ run: string } | Refused>;
  /** Of the caller's session. */
  runs(): Promise<readonly RunInfo[]>;
}

/** Begins a run, or goes on with the caller's own that the same words began. */
export function createTreelessStart({ engine, moment, workflows, which, runs }: Options) {
  const { caller, around } = moment;
  return start;

  async function start(request: StartRequest, who: Who): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, who);
    const definition = await workflows.take(request.workflow ?? 'go');
    const known = await sameRun(definition.name, request);
    if (known !== undefined) return await restore(known, who);
    const { summary, inputs } = request;
    const opening: OpeningCommand = {
      ...caller(who),
      type: 'start',
      summary,
      inputs,
    };
    const { run, reply, due } = await engine.begin(definition, opening, around(who));
    return isRefused(reply) ? { reply } : { run, reply, due };
  }

  async function restore(run: string, who: Who): Promise<Answer> {
    const found = await which({ run });
    if (!('run' in found)) return { reply: found };
    const command = { ...caller(who), type: 'status' as const };
    const { reply, due } = await engine.execute(found.run, command, undefined, around(who));
    return { run: found.run, reply, due, restored: true };
  }

  async function sameRun(
    workflow: string,
    { summary, inputs = {} }: StartRequest,
  ): Promise<string | undefined> {
    const words = shortSummary(summary);
    const same = (await runs()).filter(({ state }) => {
      if (!state || ended(state) || state.workflow !== workflow) return false;
      const fits = Object.entries(inputs).every(([name, value]) => state.inputs[name] === value);
      return fits && (words === undefined || words === state.summary);
    });
    return same.length === 1 ? same[0]?.run : undefined;
  }
}
