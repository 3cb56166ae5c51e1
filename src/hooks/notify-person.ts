import { type Cursor, formatHandle, isWithin } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import type { HookEvent } from './hook-event.ts';

/**
 * The notice for a person when a turn ends and the run needs them: for a command that no model can type, or for a
 * decision. The model may not have mentioned it. Once per request.
 */
export function personNotice(
  { run, state }: Loaded,
  { input, record, session }: HookEvent,
): string | undefined {
  if (input.agent) return undefined;
  for (const cursor of Object.values(state.cursors)) {
    const words = toType(cursor, session) ?? toDecide(cursor, session);
    if (words === undefined) continue;
    const at = formatHandle(run, cursor.path, cursor.visit);
    if (record.notifyOnce(`${at} ${words}`)) return `Stepfast: ${cursor.path} ${words}`;
  }
  return undefined;
}

function toType({ boundary }: Cursor, session: string): string | undefined {
  if (boundary?.state !== 'requested' || !isWithin(boundary.session, session)) return undefined;
  const { action, policy } = boundary;
  const wants = action === 'clear' ? 'a fresh context' : 'a compacted context';
  const otherwise =
    policy === 'require'
      ? `It waits for that; 'stepfast proceed' lets it pass.`
      : `Any other message goes on in this context.`;
  return `begins with ${wants}. Type /${action}, then: continue. ${otherwise}`;
}

function toDecide({ waiting, lease }: Cursor, session: string): string | undefined {
  if (!waiting || (lease && lease.holder !== session)) return undefined;
  if (waiting.kind === 'review' && waiting.by !== 'human') return undefined;
  return `${decisions[waiting.kind]}, in a terminal of your own; then: continue.`;
}

const decisions: Record<NonNullable<Cursor['waiting']>['kind'], string> = {
  review: 'waits for your verdict: stepfast approve, or stepfast reject "why"',
  question: 'waits for your answer: stepfast answer "…"',
  blocked: 'is stuck and waits for you: stepfast reject "what to do instead", or stepfast rewind',
};
