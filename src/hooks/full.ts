import { StepfastError } from '../errors.ts';
import {
  findInformal,
  type HookInput,
  type HookKind,
  type HookOutput,
  type Host,
  sessionName,
} from '../runtime/index.ts';
import { findProject, type Project, requireOwnFolders } from '../workspace/index.ts';
import { type Around, keyOf } from './active-project.ts';
import { payReset } from './briefing-ahead.ts';
import { afterCompact, beforeCompact } from './compaction.ts';
import { forgetPending } from './deliver-briefing.ts';
import { renewFacts } from './facts-of.ts';
import { stop } from './hold-stop.ts';
import { log } from './hook-log.ts';
import { openPlace } from './place.ts';
import { serverAnswered } from './server-outage.ts';
import { createNotebook, writtenFolders } from './session-record.ts';
import { begin, prompted } from './session-start.ts';
import { subagentStart, subagentStop } from './subagents.ts';
import { afterTool, beforeTool } from './tool-use.ts';
import type { Visit } from './visit.ts';

/** What a hook wants once the run was asked. `project` is absent where no run is active. */
export async function inFull(
  host: Host,
  input: HookInput,
  around: Around,
  project: Project | undefined,
): Promise<HookOutput> {
  const meant = project ?? informalProject(input);
  if (!meant) return {};
  if (!project) requireOwnFolders(meant, writtenFolders);
  const visit = visitOf(host, input, around, meant);
  const { place } = visit;
  await payReset(visit);
  const output = await handlers[input.kind](visit);
  if (place.shared) serverAnswered(meant);
  await renewFacts(place, { ahead: unhurried.includes(input.kind), characters: host.budget }).catch(() => {});
  const [problem] = place.problems;
  if (problem === undefined) return output;
  if (Object.keys(output).length === 0) throw new StepfastError('store_corrupt', problem);
  log(meant, place.now(), { what: 'error', event: input.kind, message: problem.slice(0, 500) });
  return output;
}

/** What the run was not told yet, before a tool of Stepfast itself asks it. */
export const payFirst = (host: Host, input: HookInput, around: Around, project: Project): Promise<void> =>
  payReset(visitOf(host, input, around, project));

function visitOf(host: Host, input: HookInput, around: Around, project: Project): Visit {
  const key = keyOf(input);
  const notebook = createNotebook(project, key);
  const place = openPlace(project, around, input.kind);
  return { host, input, key, session: sessionName(key), place, notebook };
}

const handlers: Record<HookKind, (visit: Visit) => Promise<HookOutput>> = {
  session_start: (visit) => begin(visit, visit.input.source),
  session_end: async (visit) => {
    await visit.place.sessions.ended(visit.key, { cleared: visit.input.cleared ?? false });
    visit.notebook.close();
    forgetPending(visit);
    return {};
  },
  prompt: prompted,
  before_tool: beforeTool,
  after_tool: afterTool,
  before_compact: beforeCompact,
  after_compact: afterCompact,
  stop,
  subagent_start: subagentStart,
  subagent_stop: subagentStop,
};

/** Nobody waits for these as for the others, so the next briefing is compiled ahead. */
const unhurried: readonly HookKind[] = ['session_end', 'after_compact'];

/** Only before a compaction does work without Stepfast count, and only where a file describes some. */
function informalProject({ kind, cwd }: HookInput): Project | undefined {
  if (kind !== 'before_compact') return undefined;
  const project = findProject(cwd);
  return findInformal(project).some(({ complete }) => !complete) ? project : undefined;
}
