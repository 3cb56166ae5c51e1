import { cursorAt, ended, parseHandle } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import { markedRuns } from '../workspace/index.ts';
import { deliver, forgetPending } from './deliver-briefing.ts';
import { handlesIn } from './handles-in-text.ts';
import { stop } from './hold-stop.ts';
import type { HookEvent } from './hook-event.ts';
import { openSessionRecord } from './session-record.ts';

/** A subagent with the handle of an open position in its prompt is a fresh context for it; others are ignored. */
export async function subagentStart(event: HookEvent): Promise<HookOutput> {
  const { input, context, key, session } = event;
  const parent = openSessionRecord(context.project, { host: input.host, session: input.session });
  const prompt = input.tool?.prompt ?? parent.subagentPrompts.take(input.agent?.type)?.prompt ?? '';
  const found = await openPositionIn(prompt, event);
  if (!found) return {};
  const { at, view } = found;
  await context.sessions.called(key, { run: view.run, at, cwd: input.cwd });
  const seen = { type: 'boundary', by: 'subagent', saw: 'new', at } as const;
  await context.engine.execute(view.run, { now: context.now(), session, ...seen });
  const after = await context.engine.view(view.run);
  return after ? await deliver(event, after, { at, source: 'subagent', why: 'subagent' }) : {};
}

export async function subagentStop(event: HookEvent): Promise<HookOutput> {
  const output = await stop(event);
  if (output.block !== undefined) return output;
  await event.context.sessions.ended(event.key, { cleared: false });
  event.record.close();
  forgetPending(event);
  return output;
}

/** The first handle in a text whose position is open. */
async function openPositionIn(text: string, { context }: HookEvent) {
  for (const at of handlesIn(text)) {
    const suffix = parseHandle(at)?.suffix;
    const run = markedRuns(context.marks).find((each) => suffix !== undefined && each.endsWith(`-${suffix}`));
    const view = run === undefined ? undefined : await context.engine.view(run);
    if (!view || ended(view.state)) continue;
    if (cursorAt(view.state, at)) return { at, view };
  }
  return undefined;
}
