import {
  type Artifact,
  artifactsText,
  type BriefingSource,
  loadArtifacts,
  type SectionName,
} from '../../context/index.ts';
import { conditionContext, type Engine } from '../../engine/index.ts';
import {
  type Cursor,
  criticalArtifacts,
  type DueArtifact,
  ended,
  own,
  requiredReading,
  type State,
  wasTriggered,
} from '../../machine/index.ts';
import { refusalText, shellVoice } from '../../messages/index.ts';
import { type Loaded, projectState } from '../../store/index.ts';
import { conditionHolds, type Workspace, wasReadBefore } from '../../workspace/index.ts';
import type { CallContext, CallerIdentity } from '../call-context.ts';
import { worksHere } from '../choose-run.ts';
import { cursorFor } from '../find-cursor.ts';
import { type Difference, differences } from './environment-differences.ts';

interface Options {
  engine: Engine;
  workspace: Workspace;
  context: CallContext;
}

/** The texts that the calling surface adds. */
export interface BriefingRequest {
  session?: string | undefined;
  cursor?: Cursor | undefined;
  /** The next action. */
  next: string;
  /** How to ask for a section; `{section}` is replaced by its name. */
  more: string;
}

export interface GatherRequest extends BriefingRequest {
  /** The ids of the critical artifacts to load; all by default. */
  artifacts?: readonly string[] | undefined;
  /** Also loads artifacts that the session has in context. */
  force?: boolean | undefined;
  /** Only this section, with its full texts. */
  section?: SectionName | undefined;
  /** Who gets the texts; an agent by default. */
  reader?: 'agent' | 'person' | undefined;
}

/** The critical artifacts that an agent was shown. */
export interface ShownArtifacts {
  artifacts: readonly Artifact[];
  /** Ids of the artifacts shown as a line or as text. */
  listed: readonly string[];
  /** Ids of the artifacts shown as text. */
  inlined: readonly string[];
  trigger: string;
}

export interface ArtifactVersion {
  id: string;
  /** Of the text that was shown. */
  hash?: string;
}

interface LoadRequest {
  only?: readonly string[] | undefined;
  cursor?: Cursor | undefined;
  worktree: string;
}

/** Collects what an agent is shown of a run, from its state and the files of the project. */
export interface Briefings {
  gather(view: Loaded, gathering: GatherRequest): Promise<BriefingSource>;
  /** Renders the artifacts that are due and records them as shown; undefined if there is nothing to show. */
  renderDue(
    view: Loaded,
    identity: CallerIdentity,
    due: readonly DueArtifact[],
    more: string,
  ): Promise<string | undefined>;
  /** Required artifacts that are missing, each with its fix, and why the condition of one cannot be decided. */
  requiredArtifacts(
    view: Loaded,
    at: { cursor: Cursor | undefined; worktree: string },
  ): Promise<{ missing?: string[]; undecided?: string }>;
  /** Differences between this environment and the one of the last session. */
  differences(view: Loaded, session: string | undefined): Promise<Difference[]>;
  /** Records the artifacts that an agent was shown. */
  recordShown(view: Loaded, identity: CallerIdentity, given: ShownArtifacts): Promise<void>;
}

/** Without a witness, only artifacts loaded this recently are certainly in the context of a session. */
const recentMs = 120_000;
/** The limit for artifacts in the answer of a tool. */
const dueLimit = { tokens: 1500 };
const noTree = 'This server has no files: read the named files in your own checkout.';
const unseen = 'this server cannot check it: report from a checkout that is logged in';

export function createBriefings({ engine, workspace, context }: Options): Briefings {
  const { project, values, hasFiles } = workspace;
  const { clock } = context;
  return { gather, renderDue: bring, requiredArtifacts: required, differences: compare, recordShown: record };

  async function gather(view: Loaded, gathering: GatherRequest): Promise<BriefingSource> {
    const { definition, state } = view;
    const { session, cursor, next, more, section, force } = gathering;
    const worktree = workspace.taskWorktree(view.run, cursor?.task);
    const here = worktree ?? project.worktree;
    const loaded = wants('artifacts', section)
      ? await load(view, { only: gathering.artifacts, cursor, worktree: here })
      : [];
    const isWhole = force || !hasFiles;
    const artifacts = isWhole ? loaded : loaded.map((artifact) => keepIfInContext(artifact, state, session));
    const reading = requiredReading(definition, state).map((path) => ({
      path,
      state: readingFor(state, path, here, session),
    }));
    const compares = wants('done', section) || section === 'status';
    const tree = compares ? await treeNow(view, here) : undefined;
    const changed = wants('status', section) ? differencesOf(view, session, tree) : [];
    const isNamed = !hasFiles && wants('status', section) && reading.length + artifacts.length > 0;
    return {
      definition,
      state,
      values,
      now: clock(),
      next,
      more,
      artifacts,
      differences: isNamed ? [noTree] : changed.map(({ what }) => what),
      reading,
      ...(cursor && { cursor }),
      ...(session !== undefined && { session }),
      ...(tree !== undefined && { tree }),
      ...(worktree !== undefined && { worktree }),
      ...(await textsFor({ engine, workspace }, view, gathering)),
    };
  }

  async function bring(view: Loaded, identity: CallerIdentity, due: readonly DueArtifact[], more: string) {
    const cursor = cursorFor(view, { session: identity.session });
    const worktree = workspace.taskWorktree(view.run, cursor?.task) ?? project.worktree;
    const artifacts = await load(view, { only: due.map(({ id }) => id), cursor, worktree });
    const brought = artifactsText(artifacts, more, dueLimit);
    await record(view, identity, { artifacts, ...brought, trigger: due[0]?.trigger ?? 'session_start' });
    return brought.text === '' ? undefined : brought.text;
  }

  async function required(
    view: Loaded,
    { cursor, worktree }: { cursor: Cursor | undefined; worktree: string },
  ): ReturnType<Briefings['requiredArtifacts']> {
    const due = criticalArtifacts(view.definition).filter(
      (each) => each.required && wasTriggered(each, view.state),
    );
    if (due.length === 0) return {};
    const artifacts = await load(view, { only: due.map(({ id }) => id), cursor, worktree });
    const missing = artifacts.flatMap(({ id, content }) => {
      if (content.state === 'command' && !content.done)
        return [`${id} (run ${content.command}, then note it: kind reading, key ${id})`];
      if (content.state !== 'missing' && content.state !== 'refused') return [];
      return [`${id} (${hasFiles ? content.why : unseen})`];
    });
    const waiting = new Set(due.flatMap(({ id, on_error }) => (on_error === 'wait' ? id : [])));
    const [undecided] = artifacts.flatMap(({ id, content }) =>
      content.state === 'unclear' && waiting.has(id) ? content.why : [],
    );
    return { ...(missing.length > 0 && { missing }), ...(undecided !== undefined && { undecided }) };
  }

  async function compare(view: Loaded, session: string | undefined): Promise<Difference[]> {
    return differencesOf(view, session, await treeNow(view, project.worktree));
  }

  function differencesOf({ run, definition, state }: Loaded, session: string | undefined, tree?: string) {
    if (!hasFiles) return [];
    const environment = workspace.environment();
    const refused = ended(state) ? undefined : context.untrusted(definition, run);
    const refusal = refused && refusalText(refused, shellVoice());
    return [
      ...differences(definition, state, { project, environment, session, tree }),
      ...(refusal ? [{ kind: 'trust' as const, what: `${refusal.message} ${refusal.next}` }] : []),
    ];
  }

  /** Reading a briefing does not bind a session, so only sessions that work on the run are recorded. */
  async function record(view: Loaded, identity: CallerIdentity, { trigger, ...shown }: ShownArtifacts) {
    const { session } = identity;
    const given = loadsOf(shown);
    if (session === undefined || given.length === 0 || ended(view.state)) return;
    const isBound = Object.hasOwn(view.state.sessions, session);
    if (!isBound && (!hasFiles || !worksHere(view.state, workspace.here))) return;
    const command = { ...context.caller(identity), type: 'loaded' as const, trigger, artifacts: given };
    await engine.execute(view.run, command, undefined, context.around(identity));
  }

  async function load(view: Loaded, { only, cursor, worktree }: LoadRequest): Promise<Artifact[]> {
    const declared = criticalArtifacts(view.definition).filter(({ id }) => only?.includes(id) ?? true);
    if (declared.length === 0) return [];
    const expressions = declared.flatMap(({ condition }) => condition ?? []);
    const context = await conditionContext(engine, view, expressions, cursor);
    const artifacts = await loadArtifacts({
      definition: view.definition,
      state: view.state,
      projection: projectState(view.definition, view.state),
      root: project.root,
      worktree,
      condition: (expression) => conditionHolds(expression, context),
      git: (args) => workspace.git(args, worktree),
      ...(workspace.artifactFiles && { files: workspace.artifactFiles }),
      ...(only && { only }),
    });
    return hasFiles ? artifacts : artifacts.map(withoutGit);
  }

  /** Hashing the tree reads every file, so it is done only if there is an output to compare with. */
  async function treeNow({ definition, state }: Loaded, worktree: string): Promise<string | undefined> {
    for (const key in state.outputs)
      if (state.outputs[key]?.tree !== undefined) return (await workspace.tree(definition, worktree))?.hash;
    return undefined;
  }

  /** `before`: the file was read by another session, or before the last reset of this one. */
  function readingFor(
    state: State,
    path: string,
    worktree: string,
    session: string | undefined,
  ): BriefingSource['reading'][number]['state'] {
    const known = workspace.readState(state, path, worktree);
    if (known !== 'read' || session === undefined) return known;
    return wasReadBefore(state, path, { ...project, worktree }, session) ? 'before' : known;
  }

  /** An artifact that the session still has in context is named, not shown again. */
  function keepIfInContext(artifact: Artifact, state: State, session: string | undefined): Artifact {
    const { id, content } = artifact;
    const given = session === undefined ? undefined : own(state.loads?.bySession, session);
    const load = own(given, id);
    if (content.state !== 'loaded' || !load || session === undefined) return artifact;
    const seen = own(state.sessions, session)?.witness !== undefined || clock() - load.now < recentMs;
    if (!seen || load.hash !== content.hash) return artifact;
    return { ...artifact, content: { state: 'kept', source: content.source, since: load.now } };
  }
}

/** The artifacts to record as shown. */
export function loadsOf({ artifacts, listed, inlined }: Omit<ShownArtifacts, 'trigger'>): ArtifactVersion[] {
  return artifacts.flatMap(({ id, content }) => {
    // Recorded too, so that its condition is evaluated once per trigger.
    if (content.state === 'not_needed') return [{ id }];
    if (!listed.includes(id) || content.state === 'kept') return [];
    return content.state === 'loaded' && inlined.includes(id) ? [{ id, hash: content.hash }] : [{ id }];
  });
}

const wants = (name: SectionName, section: SectionName | undefined): boolean =>
  section === undefined || section === name;

/** On a server without files, git may still have the information in the agent's checkout. */
function withoutGit(artifact: Artifact): Artifact {
  const { id, type, content } = artifact;
  if (type !== 'git_info' || content.state !== 'missing') return artifact;
  const why = `'${id}' is not readable here: ask git in your checkout.`;
  return { ...artifact, content: { state: 'refused', source: 'git', why } };
}

const mostOutputs = 20;

/** The full texts that a section shows; empty for every other section. */
async function textsFor(
  { engine, workspace }: { engine: Engine; workspace: Workspace },
  view: Loaded,
  { section, reader = 'agent' }: Pick<GatherRequest, 'section' | 'reader'>,
): Promise<Pick<BriefingSource, 'todo' | 'outputs'>> {
  const { run, state } = view;
  if (section === 'todo' && state.todo !== undefined)
    return { todo: workspace.readTodo(view, reader) ?? (await engine.text(run, state.todo)) };
  if (section !== 'outputs') return {};
  const newest = Object.entries(state.outputs).sort(([, a], [, b]) => b.now - a.now);
  const texts: [string, string][] = [];
  for (const [key, { text }] of newest.slice(0, mostOutputs)) texts.push([key, await engine.text(run, text)]);
  return { outputs: Object.fromEntries(texts) };
}
