import { contextPressureText } from '../messages/index.ts';
import { type HookOutput, levelsUpTo, type PressureLevel, pressureLevel } from '../runtime/index.ts';
import { forgetPending } from './deliver-briefing.ts';
import type { HookEvent } from './hook-event.ts';

const noticeOf = (level: PressureLevel): string => `pressure-${level}`;

/**
 * Tells the agent what to write down before its context is compacted: once for each level, where nothing else is said.
 * The status line knows how full the context is.
 */
export async function withPressure(event: HookEvent, output: HookOutput): Promise<HookOutput> {
  const { input, context, record, key } = event;
  const { kind } = input;
  if (
    (kind !== 'prompt' && kind !== 'after_tool') ||
    output.context !== undefined ||
    output.stop !== undefined
  )
    return output;
  const { pressure } = (await context.bindings.get(key)) ?? {};
  const level = pressureLevel(pressure);
  if (pressure === undefined || level === undefined) return output;
  const isNew = record.notifyOnce(noticeOf(level));
  const { delivery } = record;
  // Otherwise the delivery still needs the hooks after every tool.
  if (!delivery || delivery.proven) forgetPending(event);
  if (!isNew) return output;
  // A context that is emptier later is no news.
  for (const lower of levelsUpTo(level)) record.notifyOnce(noticeOf(lower));
  return { ...output, context: contextPressureText(pressure, level) };
}

/** The context was emptied. */
export function forgetPressure({ record }: HookEvent): void {
  for (const level of levelsUpTo(90)) record.forgetNotice(noticeOf(level));
}
