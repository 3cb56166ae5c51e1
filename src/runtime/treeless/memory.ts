import { type Artifact, artifactsText, type BriefingSource, loadArtifacts } from '../../context/index.ts';
import { conditionContext, type Engine } from '../../engine/index.ts';
import {
  type Cursor,
  criticalArtifacts,
  type DueArtifact,
  ended,
  requiredReading,
  type State,
  wasTriggered,
} from '../../machine/index.ts';
import { type Loaded, projectState } from '../../store/index.ts';
import { conditionHolds, readEntry } from '../../workspace/index.ts';
import type { Who } from '../call-context.ts';
import { cursorFor } from '../find-cursor.ts';
import { type Gathering, type Given, loadsOf, type Memory } from '../memory/memory.ts';
import { textsFor } from '../memory/texts.ts';
import { noFiles, nowhere } from './files.ts';
import type { Moment } from './moment.ts';

interface Options {
  engine: Engine;
  moment: Moment;
}

/** What an answer of a tool may carry beside its own words. */
const bringCap = { tokens: 1500 };
const noTree = 'No tree is here: read files that are named here in your own checkout.';

/** What an agent is told of a run from its state alone: files by their paths. */
export function createTreelessMemory({ engine, moment }: Options): Memory {
  return { gather, bring, missing, differences: async () => [], record };

  async function gather(view: Loaded, gathering: Gathering): Promise<BriefingSource> {
    const { definition, state } = view;
    const { session, cursor, next, more, section } = gathering;
    const artifacts =
      section === undefined || section === 'artifacts' ? await load(view, cursor, gathering.artifacts) : [];
    const reading = requiredReading(definition, state).map((path) => ({
      path,
      state: readingOf(state, path, session),
    }));
    const named = reading.length > 0 || artifacts.length > 0;
    return {
      definition,
      state,
      values: {},
      now: moment.clock(),
      next,
      more,
      artifacts,
      reading,
      differences: named && (section === undefined || section === 'status') ? [noTree] : [],
      ...(cursor ? { cursor } : {}),
      ...(session === undefined ? {} : { session }),
      ...(await textsFor(engine, view, section)),
    };
  }

  async function bring(run: string, who: Who, due: readonly DueArtifact[], more: string) {
    const view = due.length === 0 ? undefined : await engine.view(run);
    if (!view) return undefined;
    const cursor = cursorFor(view, { session: who.session });
    const artifacts = await load(
      view,
      cursor,
      due.map(({ id }) => id),
    );
    const brought = artifactsText(artifacts, more, bringCap);
    await record(view, who, { artifacts, ...brought, trigger: due[0]?.trigger ?? 'session_start' });
    return brought.text === '' ? undefined : brought.text;
  }

  /** A file that must be there is not known to be: only who has the tree may go on. */
  async function missing(view: Loaded, { cursor }: { cursor: Cursor | undefined }): Promise<string[]> {
    const required = criticalArtifacts(view.definition).filter(
      (each) => each.required && wasTriggered(each, view.state),
    );
    if (required.length === 0) return [];
    const artifacts = await load(
      view,
      cursor,
      required.map(({ id }) => id),
    );
    return artifacts.flatMap(({ id, content }) => {
      if (content.state === 'command' && !content.done)
        return [`${id} (run ${content.command}, then note it: kind reading, key ${id})`];
      if (content.state !== 'missing' && content.state !== 'refused') return [];
      return [`${id} (nobody can look at it here: report from a checkout that is logged in)`];
    });
  }

  /** Nobody is bound by a look. */
  async function record({ run, state }: Loaded, who: Who, { trigger, ...shown }: Given): Promise<void> {
    const { session } = who;
    const given = loadsOf(shown);
    if (session === undefined || given.length === 0 || ended(state)) return;
    if (!Object.hasOwn(state.sessions, session)) return;
    const command = { ...moment.caller(who), type: 'loaded' as const, trigger, artifacts: given };
    await engine.execute(run, command, undefined, moment.around(who));
  }

  async function load(view: Loaded, cursor: Cursor | undefined, only: readonly string[] | undefined) {
    const { definition, state } = view;
    const declared = criticalArtifacts(definition).filter(({ id }) => only?.includes(id) ?? true);
    if (declared.length === 0) return [];
    const expressions = declared.flatMap(({ condition }) => condition ?? []);
    const context = await conditionContext(engine, view, expressions, cursor);
    const artifacts = await loadArtifacts({
      definition,
      state,
      projection: projectState(definition, state),
      ...nowhere,
      condition: (expression) => conditionHolds(expression, context),
      git: async () => undefined,
      files: noFiles,
      ...(only ? { only } : {}),
    });
    return artifacts.map(withoutGit);
  }
}

/** That git tells nothing here says nothing of the agent's own checkout. */
function withoutGit(artifact: Artifact): Artifact {
  const { id, type, content } = artifact;
  if (type !== 'git_info' || content.state !== 'missing') return artifact;
  const why = `'${id}' is not readable here: ask git in your checkout.`;
  return { ...artifact, content: { state: 'refused', source: 'git', why } };
}

/** As somebody with a tree recorded it, or as an agent said. */
function readingOf(state: State, path: string, session: string | undefined) {
  const bare = path.replace(/^@/, '');
  const said = state.notes.some(({ kind, text }) => kind === 'reading' && text.replace(/^@/, '') === bare);
  const entry = readEntry(state, path, nowhere);
  if (!entry) return said ? ('read' as const) : ('unread' as const);
  const since = session === undefined ? 0 : (sessionOf(state, session)?.resetAt ?? 0);
  return entry.session === session && entry.now >= since ? ('read' as const) : ('before' as const);
}

const sessionOf = ({ sessions }: State, session: string) =>
  Object.hasOwn(sessions, session) ? sessions[session] : undefined;
