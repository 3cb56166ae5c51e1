import { type Briefing, type BriefingSource, type Cap, compileBriefing } from '../context/index.ts';
import { criticalArtifacts } from '../machine/index.ts';
import {
  type ArtifactVersion,
  type BriefingRequest,
  createBriefings,
  createCallContext,
  createRuntime,
  loadsOf,
  type Runtime,
} from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { type LocalWorkspace, openWorkspace } from '../workspace/index.ts';
import type { HookContext } from './hook-context.ts';

/** Runs a command and hashes the tree: more code of the kind that only few hooks need. */
export { checkHold } from '../runtime/index.ts';

/** The whole runtime of the project. */
export function openHookRuntime(context: HookContext): Runtime & { workspace: LocalWorkspace } {
  const { engine, project, commandEnv: env, home, state, machine, checkout, program, checkTool } = context;
  const runner = { program: process.execPath, args: [program, 'gate-runner'] };
  const workspace = openWorkspace({
    project,
    env,
    home,
    state,
    machine,
    checkout,
    runner,
    checkTool,
  });
  return { ...createRuntime({ engine, workspace, clock: context.now }), workspace };
}

/** The briefing where files belong to it: critical artifacts, and the tree that evidence is compared with. */
export async function briefWithFiles(
  view: Loaded,
  {
    engine,
    project,
    env,
    state,
    machine,
    nowOf,
  }: Pick<HookContext, 'engine' | 'project' | 'env' | 'state' | 'machine' | 'nowOf'>,
  telling: BriefingRequest,
  cap: Cap,
): Promise<{ source: BriefingSource; briefing: Briefing; loads: ArtifactVersion[] }> {
  const workspace = openWorkspace({ project, env, state, machine });
  const context = createCallContext({ workspace, clock: () => nowOf(view.run) });
  const briefings = createBriefings({ engine, workspace, context });
  const artifacts = criticalArtifacts(view.definition)
    .filter(({ reload_triggers: triggers }) => triggers?.some((each) => each !== 'manual') ?? true)
    .map(({ id }) => id);
  const source = await briefings.gather(view, { ...telling, artifacts });
  const briefing = compileBriefing(source, cap);
  return { source, briefing, loads: loadsOf({ artifacts: source.artifacts, ...briefing }) };
}
