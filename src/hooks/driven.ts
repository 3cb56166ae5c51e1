import type { HookOutput } from '../runtime/index.ts';
import { beforeCompact } from './compaction.ts';
import type { HookEvent } from './hook-event.ts';
import { reportSpending } from './report-spending.ts';
import { startSession } from './session-start.ts';
import { subagentStart } from './subagents.ts';
import { afterTool, beforeTool } from './tool-use.ts';

/** The mark of a compaction that the driver asked for. */
const asked = 'driver compaction';

/** A program drives this session. Then hooks record what happens and deny tools, and decide nothing. */
export async function isDriven({ context, key: { host, session } }: HookEvent): Promise<boolean> {
  return (await context.bindings.get({ host, session }))?.driven === true;
}

/** The answer to an event of a driven session. */
export async function handleDriven(event: HookEvent): Promise<HookOutput> {
  const { input, record } = event;
  switch (input.kind) {
    case 'before_tool':
      return await beforeTool(event);
    case 'after_tool':
      return await afterDrivenTool(event);
    case 'subagent_start':
      return await subagentStart(event);
    case 'before_compact':
      if (input.trigger === 'manual') record.leaveToWake(asked);
      return await beforeCompact(event);
    case 'session_start':
      // The driver's next prompt is the briefing, unless the host compacted in the middle of a turn.
      return input.source === 'compact' && !record.takeFromWake(asked)
        ? await startSession(event, 'compact')
        : {};
    default:
      return {};
  }
}

/** Every tool reports what was spent: the driver ends a turn whose budget is used up. */
async function afterDrivenTool(event: HookEvent): Promise<HookOutput> {
  const output = await afterTool(event);
  const binding = event.input.agent ? undefined : await event.context.bindings.get(event.key);
  const view = binding && (await event.context.engine.view(binding.run));
  if (view) await reportSpending(event, view, binding.at, { midTurn: true });
  return output;
}
