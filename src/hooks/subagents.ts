import { ended, formatHandle, parseHandle } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import { markedRuns } from '../workspace/index.ts';
import { deliver, forgetPending } from './deliver-briefing.ts';
import { handlesIn } from './handles-in-text.ts';
import { stop } from './hold-stop.ts';
import { createNotebook } from './session-record.ts';
import type { Visit } from './visit.ts';

/** A subagent with the handle of an open position is a fresh context for it; any other is nobody's business. */
export async function subagentStart(visit: Visit): Promise<HookOutput> {
  const { input, place, key, session } = visit;
  const parent = createNotebook(place.project, { host: input.host, session: input.session });
  const prompt = input.tool?.prompt ?? parent.handed.take(input.agent?.type)?.prompt ?? '';
  const found = await openIn(prompt, visit);
  if (!found) return {};
  const { at, view } = found;
  await place.sessions.called(key, { run: view.run, at, cwd: input.cwd });
  const seen = { type: 'boundary', by: 'subagent', saw: 'new', at } as const;
  await place.engine.execute(view.run, { now: place.now(), session, ...seen });
  const after = await place.engine.view(view.run);
  return after ? await deliver(visit, after, { at, source: 'subagent', why: 'subagent' }) : {};
}

export async function subagentStop(visit: Visit): Promise<HookOutput> {
  const output = await stop(visit);
  if (output.block !== undefined) return output;
  await visit.place.sessions.ended(visit.key, { cleared: false });
  visit.notebook.close();
  forgetPending(visit);
  return output;
}

/** The first position in somebody's words that is open. */
async function openIn(words: string, { place }: Visit) {
  for (const at of handlesIn(words)) {
    const suffix = parseHandle(at)?.suffix;
    const run = markedRuns(place.marks).find((each) => suffix !== undefined && each.endsWith(`-${suffix}`));
    const view = run === undefined ? undefined : await place.engine.view(run);
    if (!view || ended(view.state)) continue;
    const open = Object.values(view.state.cursors).some(
      ({ path, visit }) => formatHandle(view.run, path, visit) === at,
    );
    if (open) return { at, view };
  }
  return undefined;
}
