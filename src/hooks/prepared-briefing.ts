import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ended, respond } from '../machine/index.ts';
import { type Binding, resetOf } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { compileFor } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import type { PreparedBriefing } from './session-record.ts';

/** Its relative times would be wrong after that. */
const maxAgeMs = 2 * 60_000;

/**
 * Compiles the briefing for the session start after a compaction, because a person waits for that hook longer than for
 * the one before it. undefined where the reset does more than be counted: the run must act on it first.
 */
export async function prepareBriefing(
  { host, context, session }: HookEvent,
  view: Loaded,
  binding: Binding,
): Promise<PreparedBriefing | undefined> {
  const state = stateAfterReset(view, binding, context.nowOf(view.run));
  if (!state) return undefined;
  const { briefing, now, loads, files, worktree } = await compileFor(
    { ...view, state },
    context,
    { session, at: binding.at },
    host.limits.contextCharacters,
  );
  const { id, text, at } = briefing;
  return {
    id,
    text,
    ...(at === undefined ? {} : { at }),
    compiledAt: now,
    seq: view.version.seq,
    resets: resetsOf(view, session),
    worktree: context.project.worktree,
    files: fingerprintsIn(worktree, files),
    loads,
  };
}

/** The prepared briefing, if the session's reset is all that happened to the run and its files since. */
export function preparedFor(
  { context, record, session, input }: HookEvent,
  view: Loaded,
): PreparedBriefing | undefined {
  const { delivery } = record;
  const prepared = delivery?.run === view.run && !input.agent ? delivery.prepared : undefined;
  if (!prepared || context.now() - prepared.compiledAt > maxAgeMs) return undefined;
  if (view.version.seq !== prepared.seq + 1 || resetsOf(view, session) !== prepared.resets + 1)
    return undefined;
  if (prepared.worktree !== context.project.worktree) return undefined;
  return prepared.files.every(([file, before]) => fingerprintOf(file) === before) ? prepared : undefined;
}

/** undefined where a reset does more than be counted, or the session does not work on the run. */
export function stateAfterReset(view: Loaded, binding: Binding, now: number): Loaded['state'] | undefined {
  const { definition, state, run } = view;
  if (binding.run !== run || binding.endedAt !== undefined || ended(state)) return undefined;
  const reset = resetOf(state, binding, 'compact', now);
  if (sessionIn(view, reset.session ?? '')?.endedAt !== undefined) return undefined;
  const { events, state: after } = respond(definition, state, reset);
  return after && events.length > 0 && events.every(({ type }) => type === 'session.reset')
    ? after
    : undefined;
}

export const sessionIn = ({ state: { sessions } }: Loaded, session: string) =>
  Object.hasOwn(sessions, session) ? sessions[session] : undefined;

const resetsOf = (view: Loaded, session: string): number => sessionIn(view, session)?.resets ?? 0;

const fingerprintsIn = (worktree: string, paths: readonly string[]): PreparedBriefing['files'] =>
  paths.map((path) => {
    const file = join(worktree, path.replace(/^@/, '').replace(/^\{project_root\}\/?/, ''));
    return [file, fingerprintOf(file)];
  });

function fingerprintOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.size} ${stats.mtimeMs} ${stats.ino}` : '';
}
