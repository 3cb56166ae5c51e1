/** Plays one run through its compactions, with one mechanism and one summarizer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Answer,
  type ClaudeSession,
  createScriptedModel,
  createTestProject,
  mainTurn,
  nearlyFull,
  reply,
  type ScriptedModel,
  type Summarise,
  summariser,
} from '../../src/testing/index.ts';
import { startClaude } from '../../test/kit/claude.ts';
import { isStale, type StoryFact, stands } from './fact.ts';
import type { Mechanism } from './mechanism.ts';
import { type Standing, standingIn } from './standing.ts';
import {
  changedLater,
  createStory,
  readAtStart,
  reading,
  readLater,
  type Story,
  workflowName,
  written,
} from './story.ts';

export interface Compaction {
  index: number;
  trigger: 'manual' | 'auto';
  facts: readonly StoryFact[];
  standing: Standing;
  /** Of the facts, as `standing.counted` has them, and the old is absent. */
  kept: ReadonlySet<string>;
  keptWhole: ReadonlySet<string>;
  keptInjected: ReadonlySet<string>;
  /** Facts whose outdated text is still in the request. */
  stale: ReadonlySet<string>;
  /** From the end of the turn before to the first request after it. */
  ms: number;
}

export interface Played {
  compactions: Compaction[];
  /** Removed when the run is over. */
  project: string;
  filled?: Filled;
}

/** How many notes went in before one was refused, and how many of them stood in the request after a compaction. */
export interface Filled {
  notes: number;
  characters: number;
  refusal: string;
  standing: number;
  /** Of the facts that were there before, how many still stood. */
  facts: number;
  /** Of the briefing with all of them. */
  briefing: number;
}

export interface PlayOptions {
  compactions: number;
  mechanism: Mechanism;
  summarise(facts: () => readonly StoryFact[]): Summarise;
  /** At the end, adds notes until one is refused, and compacts once more. */
  fills?: boolean;
}

const everyDecision = 5;
const everyAdvance = 4;
const whenChanged = 3;
const whenRead = 6;

export async function play<Result>(
  { compactions, mechanism, summarise, fills = false }: PlayOptions,
  then: (played: Played) => Result,
): Promise<Result> {
  using project = createTestProject({ ...mechanism.files, ...documents });
  const cwd = project.root;
  const home = join(cwd, '..', 'claude-home');
  mkdirSync(home);
  const model = await createScriptedModel();
  const story = createStory(compactions);
  try {
    model.always(summariser(), summarise(story.facts));
    const session = await startClaude({ ...mechanism.host, cwd, home, model, timeoutMs: 240_000 });
    const found: Compaction[] = [];
    let filled: Filled | undefined;
    try {
      const say = createSay(session, model);
      await begin(say, story, mechanism, cwd);
      for (let index = 1; index <= compactions; index += 1) {
        const trigger = index % 2 === 1 ? 'manual' : 'auto';
        story.resetContext();
        const ms = trigger === 'manual' ? await manually(say, session) : await automatically(say, model);
        found.push(look(index, trigger, story, mechanism, model, ms));
        if (index === whenChanged) await change(say, story, cwd);
        if (index === whenRead) await read(say, story, cwd);
        if (index % everyDecision === 0) await decide(say, story, mechanism);
        if (index % everyAdvance === 0) await advance(say, story, mechanism);
      }
      const [refused] = refusalsIn(model);
      if (refused !== undefined) throw new Error(`a tool refused the script: ${refused}`);
      if (fills) filled = await fill(say, session, story, mechanism, model);
    } finally {
      await session.close();
    }
    const [stray] = model.strays();
    if (stray !== undefined) throw new Error(stray);
    const [other] = model.unmatched();
    if (other) throw new Error(`the script has no answer to the ${other.kind} request '${other.lastUser}'`);
    return then({ compactions: found, project: cwd, ...(filled ? { filled } : {}) });
  } finally {
    await model[Symbol.asyncDispose]();
  }
}

const documents = Object.fromEntries(
  reading.map((path) => [path, `# ${path.slice(5, -3)}\n\nAs it was agreed.\n`]),
);

type Say = (prompt: string, ...answers: Answer[]) => Promise<number>;

/** Sends a prompt and waits until the scripted model has sent all its responses. */
function createSay(session: ClaudeSession, model: ScriptedModel): Say {
  return async (prompt, ...answers) => {
    model.on(mainTurn(), ...answers);
    const { ms, isError, result } = await session.send(prompt);
    if (isError || model.left() > 0) throw new Error(`'${prompt.slice(0, 60)}' ended with: ${result}`);
    return ms;
  };
}

async function begin(say: Say, story: Story, mechanism: Mechanism, cwd: string): Promise<void> {
  const told = story.facts().map(({ kind, text }) => `- ${kind}: ${text}`);
  const file = (path: string) => join(cwd, path);
  await say(
    `Work on this with the workflow ${workflowName}. What holds:\n${told.join('\n')}`,
    ...mechanism.begins(story),
    reply.tools(readAtStart.map((path) => ({ name: 'Read', input: { file_path: file(path) } }))),
    reply.tools(
      written.map((path) => ({ name: 'Write', input: { file_path: file(path), content: 'export {};\n' } })),
    ),
    reply.text('All of that is understood.'),
  );
  if (mechanism.handle?.() === '')
    throw new Error('Stepfast did not respond to the calls that start the run');
}

async function decide(say: Say, story: Story, mechanism: Mechanism): Promise<void> {
  const fact = story.decide();
  await say(
    `Another decision, in place of the one before. ${fact.id}: ${fact.text}`,
    ...mechanism.decided(fact, story),
    reply.text('Understood.'),
  );
}

async function advance(say: Say, story: Story, mechanism: Mechanism): Promise<void> {
  const to = story.advance();
  await say(
    'That part is good; go on to the next one.',
    ...mechanism.advances(to, story),
    reply.text(`Now at ${to.text}. Next: ${to.next}`),
  );
}

/** Edits a file that the agent has read. */
async function change(say: Say, story: Story, cwd: string): Promise<void> {
  writeFileSync(join(cwd, changedLater), `# ${changedLater}\n\nAgreed anew.\n`);
  story.changed(changedLater);
  await say('A file was edited.', reply.text(`Then: ${story.fact(`reading state:${changedLater}`).text}.`));
}

async function read(say: Say, story: Story, cwd: string): Promise<void> {
  story.read(readLater);
  await say(
    'Read the acceptance list.',
    reply.tool('Read', { file_path: join(cwd, readLater) }),
    reply.text(`${story.fact(`reading state:${readLater}`).text}.`),
  );
}

/** The host keeps the last round word for word: nothing of the facts stands in it. */
const filler = reply.tool(
  'Bash',
  { command: 'date +%s', description: 'Look at the clock' },
  { usage: nearlyFull },
);

async function manually(say: Say, session: ClaudeSession): Promise<number> {
  await say('What time is it?', reply.text('Late.'));
  const { ms, isError, result } = await session.send('/compact');
  if (isError) throw new Error(`/compact: ${result}`);
  const started = performance.now();
  await say('And on.', reply.text('On it.'));
  return ms + (performance.now() - started);
}

async function automatically(say: Say, model: ScriptedModel): Promise<number> {
  const before = model.requestsOf('summariser').length;
  await say('Look at the clock.', filler, reply.text('Late.'));
  if (model.requestsOf('summariser').length !== before + 1)
    throw new Error('the full context window was not compacted');
  const after = model.firstRequestAfterCompaction();
  const last = model.all().findLast(({ n, kind }) => kind === 'main' && n < after.n);
  return after.at - (last?.at ?? after.at);
}

function look(
  index: number,
  trigger: Compaction['trigger'],
  story: Story,
  mechanism: Mechanism,
  model: ScriptedModel,
  ms: number,
): Compaction {
  const standing = standingIn(model.firstRequestAfterCompaction());
  const facts = story.facts();
  const handle = mechanism.handle?.() ?? '';
  const stale = new Set(facts.filter((fact) => isStale(fact, standing.whole)).map(({ id }) => id));
  const kept = (context: string): Set<string> =>
    new Set(
      facts
        .filter((fact) => stands(fact, context) && !stale.has(fact.id))
        .filter(({ kind }) => kind !== 'next action' || context.includes(handle))
        .map(({ id }) => id),
    );
  return {
    index,
    trigger,
    facts,
    standing,
    kept: kept(standing.counted),
    keptWhole: kept(standing.whole),
    keptInjected: kept(standing.injected),
    stale,
    ms,
  };
}

async function fill(
  say: Say,
  session: ClaudeSession,
  story: Story,
  mechanism: Mechanism,
  model: ScriptedModel,
): Promise<Filled> {
  const { answers = [], accepted = () => ({ texts: [], refusal: '' }) } = mechanism.fills?.() ?? {};
  await say('Some more decisions.', ...answers, reply.text('Noted.'));
  const { texts, refusal } = accepted();
  await manually(say, session);
  const { counted, briefing = '' } = standingIn(model.firstRequestAfterCompaction());
  return {
    notes: texts.length,
    characters: texts.join('').length,
    refusal,
    standing: texts.filter((text) => counted.includes(text)).length,
    facts: story.facts().filter((fact) => stands(fact, counted)).length,
    briefing: briefing.length,
  };
}

/** Refusals of tools, which would invalidate the measurement. */
function refusalsIn(model: ScriptedModel): string[] {
  return model
    .requestsOf('main')
    .flatMap(({ body }) => body.messages)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => JSON.stringify(content))
    .filter((text) => /\\?"code\\?":/.test(text));
}
