import {
  type Artifact,
  artifactsText,
  type BriefingSource,
  loadArtifacts,
  type SectionName,
} from '../../context/index.ts';
import { git, gitEnvironment, treeOf } from '../../evidence/index.ts';
import {
  type Cursor,
  criticalArtifacts,
  type DueArtifact,
  ended,
  requiredReading,
  type State,
} from '../../machine/index.ts';
import { type Loaded, projectState } from '../../store/index.ts';
import { conditionContext } from '../condition-context.ts';
import type { Engine } from '../engine.ts';
import { conditionHolds } from '../gate-values.ts';
import { excludedFrom } from '../gates-in.ts';
import type { Project } from '../project.ts';
import { readState } from '../reading.ts';
import type { Surroundings, Who } from '../surroundings.ts';
import { taskWorktree } from '../task-worktree.ts';
import { cursorFor } from '../whose.ts';
import { type Difference, differences } from './differences.ts';

interface Options {
  engine: Engine;
  project: Project;
  surroundings: Surroundings;
  env: Readonly<Record<string, string | undefined>>;
  cacheDirectory: string;
}

/** What the surface that asks adds: its own words. */
export interface Telling {
  session?: string | undefined;
  cursor?: Cursor | undefined;
  /** The next action. */
  next: string;
  /** How a section is asked for: `{section}` stands for its name. */
  more: string;
}

export interface Gathering extends Telling {
  /** The ids of the critical artifacts to load; all by default. */
  artifacts?: readonly string[] | undefined;
  /** Loads also what the session has in context already. */
  force?: boolean | undefined;
  /** The section that is asked for alone: brings its whole texts. */
  section?: SectionName | undefined;
}

/** What an agent is told of a run, gathered from its state and the files around it. */
export interface Memory {
  gather(view: Loaded, gathering: Gathering): Promise<BriefingSource>;
  /** What the triggers of the workflow ask for now, as a text for the session; undefined where there is nothing. */
  bring(run: string, who: Who, due: readonly DueArtifact[], more: string): Promise<string | undefined>;
  /** Required artifacts that are not there, each with what mends it. */
  missing(view: Loaded): Promise<string[]>;
  /** What is not here as it was where the run was worked on last. */
  differences(view: Loaded, session: string | undefined): Promise<Difference[]>;
  /** Records what an agent was given. */
  record(view: Loaded, who: Who, artifacts: readonly Artifact[], trigger: string): Promise<void>;
}

/** Where nobody sees a session's resets, only what was loaded just now is surely in its context. */
const recentMs = 120_000;
const mostOutputs = 20;
const gitMs = 5_000;
/** What an answer of a tool may carry beside its own words. */
const bringCap = { tokens: 1500 };

export function createMemory({ engine, project, surroundings, env, cacheDirectory }: Options): Memory {
  const { clock, values } = surroundings;
  return { gather, bring, missing, differences: compare, record };

  async function gather(view: Loaded, gathering: Gathering): Promise<BriefingSource> {
    const { definition, state } = view;
    const { session, cursor, next, more, section, force } = gathering;
    const loaded = wants('artifacts', section) ? await load(view, gathering.artifacts, cursor) : [];
    const artifacts = force ? loaded : loaded.map((artifact) => unlessKept(artifact, state, session));
    const tree = wants('done', section) ? await treeNow(view) : undefined;
    const worktree = taskWorktree(project, view.run, cursor?.task);
    return {
      definition,
      state,
      values,
      now: clock(),
      next,
      more,
      artifacts,
      reading: requiredReading(definition, state).map((path) => ({
        path,
        state: readState(state, path, project),
      })),
      ...(cursor ? { cursor } : {}),
      ...(session === undefined ? {} : { session }),
      ...(tree === undefined ? {} : { tree }),
      ...(worktree === undefined ? {} : { worktree }),
      ...(await textsFor(view, section)),
    };
  }

  async function bring(run: string, who: Who, due: readonly DueArtifact[], more: string) {
    const view = due.length === 0 ? undefined : await engine.view(run);
    if (!view) return undefined;
    const cursor = cursorFor(view, { session: who.session });
    const artifacts = await load(
      view,
      due.map(({ id }) => id),
      cursor,
    );
    const { text, inlined } = artifactsText(artifacts, more, bringCap);
    const given = artifacts.filter(({ id, content }) => content.state === 'command' || inlined.includes(id));
    await record(view, who, given, due[0]?.trigger ?? 'session_start');
    return text === '' ? undefined : text;
  }

  async function missing(view: Loaded): Promise<string[]> {
    const required = criticalArtifacts(view.definition).filter((each) => each.required);
    if (required.length === 0) return [];
    const artifacts = await load(
      view,
      required.map(({ id }) => id),
    );
    return artifacts.flatMap(({ id, content }) => {
      if (content.state === 'command' && !content.done)
        return [`${id} (run ${content.command}, then note it: kind reading, key ${id})`];
      return content.state === 'missing' || content.state === 'refused' ? [`${id} (${content.why})`] : [];
    });
  }

  async function compare(view: Loaded, session: string | undefined): Promise<Difference[]> {
    const environment = surroundings.environment();
    const tree = await treeNow(view);
    return differences(view.definition, view.state, { project, environment, session, tree });
  }

  async function record(view: Loaded, who: Who, artifacts: readonly Artifact[], trigger: string) {
    const given = artifacts.flatMap(({ id, content }) => {
      if (content.state === 'loaded') return [{ id, hash: content.hash }];
      return content.state === 'command' ? [{ id }] : [];
    });
    if (given.length === 0 || ended(view.state)) return;
    const command = { ...surroundings.caller(who), type: 'loaded' as const, trigger, artifacts: given };
    await engine.execute(view.run, command, undefined, surroundings.around(who));
  }

  async function load(view: Loaded, only?: readonly string[], cursor?: Cursor): Promise<Artifact[]> {
    const declared = criticalArtifacts(view.definition).filter(({ id }) => only?.includes(id) ?? true);
    if (declared.length === 0) return [];
    const expressions = declared.flatMap(({ condition }) => condition ?? []);
    const context = await conditionContext(engine, view, expressions, cursor);
    return await loadArtifacts({
      definition: view.definition,
      state: view.state,
      projection: projectState(view.definition, view.state),
      root: project.root,
      worktree: project.worktree,
      condition: (expression) => conditionHolds(expression, context),
      git: runGit,
      ...(only ? { only } : {}),
    });
  }

  async function runGit(args: readonly string[]): Promise<string | undefined> {
    if (!project.git) return undefined;
    const { code, stdout } = await git(args, {
      cwd: project.worktree,
      env: gitEnvironment(env),
      deadline: performance.now() + gitMs,
    });
    return code === 0 ? stdout.toString('utf8') : undefined;
  }

  /** Looked at only where something is compared with it: it costs a walk over the files. */
  async function treeNow({ definition, state }: Loaded): Promise<string | undefined> {
    for (const key in state.outputs)
      if (state.outputs[key]?.tree !== undefined)
        return (
          await treeOf({ worktree: project.worktree, exclude: excludedFrom(definition), cacheDirectory })
        ).hash;
    return undefined;
  }

  /** Still in the context of whoever asks: named, not shown again. */
  function unlessKept(artifact: Artifact, state: State, session: string | undefined): Artifact {
    const { id, content } = artifact;
    const loads = state.loads?.artifacts ?? {};
    const load = Object.hasOwn(loads, id) ? loads[id] : undefined;
    if (content.state !== 'loaded' || !load || session === undefined || load.session !== session)
      return artifact;
    const seen = state.sessions[session]?.witness !== undefined || clock() - load.now < recentMs;
    if (!seen || load.hash !== content.hash) return artifact;
    return { ...artifact, content: { state: 'kept', source: content.source, since: load.now } };
  }

  async function textsFor({ run, state }: Loaded, section: SectionName | undefined) {
    if (section === 'todo')
      return state.todo === undefined ? {} : { todo: await engine.text(run, state.todo) };
    if (section !== 'outputs') return {};
    const newest = Object.entries(state.outputs).sort(([, a], [, b]) => b.now - a.now);
    const texts: [string, string][] = [];
    for (const [key, { text }] of newest.slice(0, mostOutputs))
      texts.push([key, await engine.text(run, text)]);
    return { outputs: Object.fromEntries(texts) };
  }
}

const wants = (name: SectionName, section: SectionName | undefined): boolean =>
  section === undefined || section === name;
