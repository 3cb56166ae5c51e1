import type { HookEvent } from './hook-event.ts';

/** From now on the session works on the run, at this position where it is known. */
export async function joinRun(
  { context, key, input }: HookEvent,
  { run, at }: { run: string; at?: string | undefined },
): Promise<void> {
  await context.sessions.called(key, {
    run,
    cwd: input.cwd,
    ...(at === undefined ? {} : { at }),
    ...(context.pid === undefined ? {} : { pid: context.pid }),
  });
}
