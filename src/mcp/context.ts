import {
  artifactsText,
  type BriefingSource,
  briefingSection,
  compileBriefing,
  maxArtifacts,
  type SectionName,
} from '../context/index.ts';
import { criticalArtifacts, type Definition, leastBriefing, statusOf } from '../machine/index.ts';
import { nextForTools } from '../messages/index.ts';
import { type CallerIdentity, cursorFor, type Refused, type Runtime } from '../runtime/index.ts';
import { sectionNames } from '../schema/index.ts';
import type { Loaded } from '../store/index.ts';
import { type Arguments, badArgument, textIn } from './arguments.ts';
import { meantRun } from './session-run.ts';

/** How a section is asked for. */
export const moreWords = 'workflow_context, section {section}';

interface Asked {
  at?: string | undefined;
  section?: SectionName | undefined;
  artifacts?: string[] | undefined;
  force?: boolean;
}

/** The answer of `workflow_context`; a requested context action stays pending. */
export async function contextFor(
  given: Arguments,
  runtime: Runtime,
  who: CallerIdentity & { session: string },
): Promise<{ text: string } | { refused: Refused }> {
  const at = textIn(given, 'at');
  let found = await runtime.loadRun({ at });
  if ('code' in found && at === undefined) {
    const run = await meantRun(runtime, found, { session: who.session, over: 'any' });
    if (run !== undefined) found = await runtime.loadRun({ run });
  }
  if ('code' in found) return { refused: found };
  const text = await contextOf(runtime, found, who, {
    at,
    section: sectionNames.find((each) => each === given.section),
    artifacts: Array.isArray(given.artifacts) ? given.artifacts.map(String) : undefined,
    force: given.force === true,
  });
  return typeof text === 'string' ? { text } : { refused: text };
}

/** The briefing of a run, or one section in full. */
export async function contextOf(
  runtime: Runtime,
  view: Loaded,
  who: CallerIdentity = {},
  { at, section, artifacts, force = false }: Asked = {},
): Promise<string | Refused> {
  const { definition, state } = view;
  const unknown = unknownArtifact(artifacts ?? [], definition);
  if (unknown) return unknown;
  const { session = '' } = who;
  const cursor = cursorFor(view, { at, session });
  const status = statusOf(definition, state, { cursor, values: runtime.workspace.values, session });
  const wanted = artifacts ? 'artifacts' : section;
  const source = await runtime.briefings.gather(view, {
    session,
    cursor,
    next: nextForTools(status.action, { gatesElsewhere: !runtime.workspace.hasFiles }),
    more: moreWords,
    artifacts,
    force: force || wanted !== undefined,
    section: wanted,
  });
  const told = tell(source, wanted);
  if (session !== '')
    await runtime.briefings.recordShown(view, who, {
      artifacts: source.artifacts,
      ...told,
      trigger: 'manual',
    });
  return told.text;
}

/** The text, the artifacts in it, and those included in full. */
function tell(source: BriefingSource, section: SectionName | undefined) {
  if (section === 'artifacts') {
    const alone = artifactsText(source.artifacts, moreWords, maxArtifacts);
    return alone.text === '' ? { ...alone, text: "This run has nothing under 'artifacts'." } : alone;
  }
  if (section !== undefined) return { text: briefingSection(source, section), listed: [], inlined: [] };
  return compileBriefing(source, { tokens: source.definition.briefing?.budget ?? leastBriefing.tokens });
}

function unknownArtifact(ids: readonly string[], definition: Definition): Refused | undefined {
  const known = criticalArtifacts(definition).map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return undefined;
  const given = unknown.slice(0, 80);
  return badArgument('workflow_context', { is: 'unknown_artifact', workflow: definition.name, given, known });
}
