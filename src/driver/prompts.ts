import { compileBriefing, gateExcerpt } from '../context/index.ts';
import { type Cursor, handleOf, leastBriefing, statusOf } from '../machine/index.ts';
import {
  drivenBriefingText,
  drivenContinueText,
  drivenRedText,
  drivenReviewText,
  nextForTools,
} from '../messages/index.ts';
import { loadsOf } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import type { DriverContext } from './worker-context.ts';

/** How an agent asks for a section. */
const more = 'workflow_context, section {section}';

export interface Prompt {
  text: string;
  /** The id of the briefing in it. */
  briefing?: string;
}

/** Everything that a session must know which knows nothing yet. */
export async function briefingPrompt(
  { runtime }: DriverContext,
  view: Loaded,
  cursor: Cursor,
  session: string,
): Promise<Prompt> {
  const { definition, state } = view;
  const { workspace, briefings } = runtime;
  const { action } = statusOf(definition, state, { cursor, session, values: workspace.values });
  const isReview = cursor.waiting?.kind === 'review';
  const source = await briefings.gather(view, { session, cursor, next: nextForTools(action), more });
  const briefing = compileBriefing(source, { tokens: definition.briefing?.budget ?? leastBriefing.tokens });
  await runtime.call(
    { type: 'loaded', trigger: 'session_start', artifacts: loadsOf({ ...source, ...briefing }) },
    { session },
    { run: view.run },
  );
  const text = isReview
    ? drivenReviewText(briefing.text, handleOf(state, cursor))
    : drivenBriefingText(briefing.text);
  return { text, briefing: briefing.id };
}

/** What a session is told that has worked on the run before. */
export function continuingPrompt(
  { runtime }: DriverContext,
  { definition, state }: Loaded,
  cursor: Cursor,
  session: string,
): Prompt {
  const status = statusOf(definition, state, { cursor, session, values: runtime.workspace.values });
  const { action, instructions = '', feedback, answers = [], last_failure } = status;
  const next = nextForTools(action);
  if (action.do === 'fix')
    return {
      text: drivenRedText({
        gates: (status.failed_gates ?? []).map(({ what, exit, expect, tail = '' }) => ({
          what,
          exit,
          expect,
          lines: gateExcerpt(tail),
        })),
        next,
      }),
    };
  return { text: drivenContinueText({ instructions, next, feedback, answers, failure: last_failure }) };
}
