import { existsSync } from 'node:fs';
import {
  type Beginning,
  differences,
  type HookOutput,
  type LiveRun,
  liveRuns,
  type Source,
} from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { sessionEnvironment } from '../workspace/index.ts';
import { deliver, repair } from './deliver-briefing.ts';
import { listed, twoLines } from './run-notices.ts';
import { sweepNotebooks, wasBriefed } from './session-record.ts';
import type { Visit } from './visit.ts';

/**
 * A conversation begins, or begins again: it is told of the run that it works on. Without `guess` only what it is
 * bound to.
 */
export async function begin(
  visit: Visit,
  source: Source = 'startup',
  { guess = true } = {},
): Promise<HookOutput> {
  const { place, notebook } = visit;
  const beginning = await begun(visit, source);
  if (source === 'startup') sweepNotebooks(place.project, place.now());
  if (!guess && beginning.binding === undefined) return {};
  return await tell(beginning);

  async function tell(what: Beginning): Promise<HookOutput> {
    if (what.kind === 'nothing') return {};
    if (what.kind === 'list') return seen('', { context: listed(what.runs, what.count) });
    const view = await place.engine.view(what.run);
    if (!view) return {};
    if (what.kind === 'two_lines') return seen(view.run, { context: twoLines(lineOf(view), what.heldBy) });
    const at = what.binding?.at ?? what.inherits?.at;
    const more = source === 'resume' ? differs(visit, view) : undefined;
    return await deliver(visit, view, { at, source, why: source, more });
  }

  /** Its beginning was seen, and there is nothing to prove. */
  function seen(run: string, output: HookOutput): HookOutput {
    notebook.send({ run, source, tries: 1, proven: 'none' });
    return output;
  }
}

/** Tells the run, and binds. */
export async function begun({ input, place, notebook }: Visit, source: Source): Promise<Beginning> {
  const { host, session, agent, cwd } = input;
  return await place.sessions.begin({
    source,
    host,
    session,
    cwd,
    ...(agent ? { agent } : {}),
    ...(source === 'compact' && wasBriefed(notebook.sent) ? { briefed: notebook.sent.run } : {}),
    ...(place.pid === undefined ? {} : { pid: place.pid }),
  });
}

function differs({ place, session }: Visit, { definition, state }: Loaded): string | undefined {
  const { project, env } = place;
  const environment = sessionEnvironment(project, env);
  const found = differences(definition, state, { project, environment, session });
  return found.length === 0 ? undefined : `SINCE THEN\n${found.map(({ what }) => `- ${what}`).join('\n')}`;
}

const lineOf = ({ run, state }: Loaded): LiveRun => {
  const [live] = liveRuns([{ run, state }]);
  if (!live) throw new Error(`${run} is not live`);
  return live;
};

/** A person wrote something: the first chance to mend an injection that was lost, or a start that nobody saw. */
export async function prompted(visit: Visit): Promise<HookOutput> {
  const { input, notebook, place, key } = visit;
  await place.sessions.seen(key);
  if (notebook.sent) return await repair(visit);
  if ((await place.bindings.get(key)) !== undefined) return {};
  // The host writes the conversation down after its first prompt.
  const fresh = input.transcript !== undefined && !existsSync(input.transcript);
  return fresh || (await wasCleared(visit)) ? await begin(visit, 'clear', { guess: fresh }) : {};
}

/** A session before this one was cleared, and none came in its place. */
async function wasCleared({ place, key }: Visit): Promise<boolean> {
  const left = await place.bindings.list();
  return left.some(({ host, cleared, agent }) => host === key.host && cleared && agent === undefined);
}
