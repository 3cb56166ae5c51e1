import { briefingSection, compileBriefing, type SectionName } from '../context/index.ts';
import { leastBriefing, statusOf } from '../machine/index.ts';
import { cursorFor, type Refused, type Runtime, type Who } from '../runtime/index.ts';
import { type Arguments, textIn } from './arguments.ts';
import { meantRun } from './find-run.ts';
import { nextCall } from './next-call.ts';
import { sectionNames } from './tools.ts';

/** How a section is asked for. */
export const moreWords = 'workflow_context, section {section}';

interface Asked {
  at?: string | undefined;
  section?: SectionName | undefined;
  artifacts?: string[] | undefined;
  force?: boolean;
}

/** What `workflow_context` answers: a context action that was asked for stays as it is. */
export async function contextFor(
  given: Arguments,
  runtime: Runtime,
  who: Who & { session: string },
): Promise<{ text: string } | { refused: Refused }> {
  const at = textIn(given, 'at');
  let found = await runtime.which({ at });
  if (!('run' in found) && at === undefined) {
    const run = await meantRun(runtime, found, { session: who.session, over: true });
    if (run !== undefined) found = { run };
  }
  if (!('run' in found)) return { refused: found };
  const text = await contextOf(runtime, found.run, who, {
    at,
    section: sectionNames.find((each) => each === given.section),
    artifacts: Array.isArray(given.artifacts) ? given.artifacts.map(String) : undefined,
    force: given.force === true,
  });
  return text === undefined ? { refused: gone(found.run) } : { text };
}

/** The briefing of a run, or one section in full; undefined where there is no such run. */
export async function contextOf(
  runtime: Runtime,
  run: string,
  who: Who = {},
  { at, section, artifacts, force = false }: Asked = {},
): Promise<string | undefined> {
  const view = await runtime.engine.view(run);
  if (!view) return undefined;
  const { definition, state } = view;
  const { session = '' } = who;
  const cursor = cursorFor(view, { at, session });
  const values = { project_root: runtime.project.root };
  const status = statusOf(definition, state, { cursor, values, session });
  const wanted = artifacts ? 'artifacts' : section;
  const source = await runtime.memory.gather(view, {
    session,
    cursor,
    next: nextCall(status, { session, view }),
    more: moreWords,
    artifacts,
    force: force || wanted !== undefined,
    section: wanted,
  });
  const briefing =
    wanted === undefined
      ? compileBriefing(source, { tokens: definition.briefing?.budget ?? leastBriefing.tokens })
      : undefined;
  const shown = source.artifacts.filter(({ id, content }) =>
    briefing ? content.state === 'command' || briefing.inlined.includes(id) : wanted === 'artifacts',
  );
  if (session !== '') await runtime.memory.record(view, who, shown, 'manual');
  return briefing?.text ?? briefingSection(source, wanted ?? 'status');
}

export const gone = (run: string): Refused => ({
  code: 'no_run',
  message: `there is no run '${run.slice(0, 80)}'`,
  next: 'call workflow_status without a handle',
});
