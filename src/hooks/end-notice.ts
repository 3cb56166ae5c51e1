import { type Event, endedUnproven, parseHandle } from '../machine/index.ts';
import { runEndedText } from '../messages/index.ts';
import { createEndNotices } from '../runtime/index.ts';
import type { HookEvent } from './hook-event.ts';

/** How the session's run ended, for the person, once, also where another session or a command ended it. */
export async function endNotice({ input, context, key }: HookEvent): Promise<string | undefined> {
  if (input.agent || !['stop', 'prompt', 'session_start'].includes(input.kind)) return undefined;
  const run = createEndNotices(context.project.directory).take(key);
  const view = run === undefined ? undefined : await context.engine.view(run);
  if (!view) return undefined;
  const { definition, state } = view;
  const outputs = Object.values(state.outputs);
  const receipts = outputs.flatMap((output) => output.receipts);
  const unproven = outputs.filter((output) => endedUnproven(definition, output));
  // A command that failed as expected shows the task, not that it is done.
  const proofs = receipts.filter(({ pass, expect }) => pass && expect === undefined);
  const checks = new Set(proofs.map(({ what }) => what));
  const events = (await context.engine.entries(view.run)).flatMap((entry) => entry.events);
  return runEndedText({
    workflow: definition.name,
    status: state.status,
    reason: state.reason,
    checks: [...checks],
    unproven: unproven.map(({ at }) => parseHandle(at)?.path.split('/', 1)[0] ?? ''),
    caught: events.filter(isCaught).length,
  });
}

/** A red check of an agent's work; neither a command of the engine nor a gate before the work checks a claim. */
const isCaught = (event: Event): boolean =>
  event.type === 'gates.finished' &&
  !event.pass &&
  event.receipts.every(({ role }) => role !== 'run' && role !== 'baseline');
