/** Plays the story in a real agent through its compactions, with one mechanism and one summarizer. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Answer,
  type LoggedRequest,
  mainTurn,
  reply,
  type Summarise,
  summariser,
} from '../../src/testing/index.ts';
import type { HostSession, SessionHost } from '../../test/kit/host-stage.ts';
import { stepfastIn } from '../../test/kit/stepfast-in.ts';
import type { StoryFact } from './fact.ts';
import type { Mechanism } from './mechanism.ts';
import { type Standing, standingIn } from './standing.ts';
import {
  changedLater,
  createStory,
  readAtStart,
  reading,
  readLater,
  workflowName,
  written,
} from './story.ts';

export interface Compaction {
  index: number;
  facts: readonly StoryFact[];
  /** In the first request after it. */
  standing: Standing;
  handle: string;
}

export interface Played {
  compactions: Compaction[];
  /** Entries of the hook log. */
  log: { what: string; why?: string }[];
}

export interface PlayOptions {
  host: SessionHost;
  mechanism: Mechanism;
  compactions: number;
  summarise(facts: () => readonly StoryFact[]): Summarise;
}

const everyDecision = 5;
const everyAdvance = 4;
const whenChanged = 3;
const whenRead = 6;

export async function play({ host, mechanism, compactions, summarise }: PlayOptions): Promise<Played> {
  const story = createStory(compactions);
  const documents = Object.fromEntries(reading.map((path) => [path, `# ${path}\n\nAs it was agreed.\n`]));
  const stage = await host.prepare({ ...host.settings, ...mechanism.files, ...documents });
  const { model, project } = stage;
  const { root } = project;
  let session: HostSession | undefined;
  try {
    if (mechanism.installed) {
      const { code, stderr } = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
      if (code !== 0) throw new Error(stderr);
    }
    model.always(summariser(), summarise(story.facts));
    session = await host.open(stage);
    const told = story.facts().map(({ kind, text }) => `- ${kind}: ${text}`);
    await say(
      `Work on this with the workflow ${workflowName}. What holds:\n${told.join('\n')}`,
      ...mechanism.begins(story),
      ...readAtStart.map((path) => host.read(path, root)),
      ...written.map((path) => host.write(path, 'export {};', root)),
      reply.text('All of that is understood.'),
    );
    const found: Compaction[] = [];
    for (let index = 1; index <= compactions; index += 1) {
      story.resetContext();
      const request = index % 2 === 1 ? await manually(session) : await automatically();
      const standing = standingIn(request);
      found.push({ index, facts: story.facts(), standing, handle: mechanism.handle() });
      await work(index);
    }
    const refused = model.requestsOf('main').flatMap(({ body }) => refusalsIn(body.messages));
    const other = model.unmatched().map(({ kind, lastUser }) => `no answer to the ${kind} '${lastUser}'`);
    const [wrong] = [...refused, ...(host.name === 'claude-code' ? [...model.strays(), ...other] : [])];
    if (wrong !== undefined) throw new Error(wrong);
    return { compactions: found, log: hookLog(root) };
  } finally {
    await session?.end();
    await model[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  }

  /** Sends a prompt and waits until the scripted model has sent all its responses. */
  async function say(prompt: string, ...answers: Answer[]): Promise<void> {
    model.on(mainTurn(), ...answers);
    await session?.send(prompt);
    if (model.left() > 0) throw new Error(`'${prompt.slice(0, 60)}' left ${model.left()} answers unsent`);
  }

  /** The host keeps the last round word for word, so none of the facts stands in it. */
  async function manually({ compact }: HostSession): Promise<LoggedRequest> {
    await say('What time is it?', reply.text('Late.'));
    await compact();
    await say('And on.', reply.text('On it.'));
    return model.firstRequestAfterCompaction();
  }

  async function automatically(): Promise<LoggedRequest> {
    const before = model.requestsOf('summariser').length;
    const full = host.shell('date +%s', { usage: host.nearlyFull });
    await say('Look at the clock.', full, reply.text('Late.'));
    const isLate = host.afterCompaction === 'next turn';
    if (isLate) await say('And on.', reply.text('On it.'));
    if (model.requestsOf('summariser').length <= before)
      throw new Error('the full context window was not compacted');
    return isLate ? (model.requestsOf('main').at(-1) as LoggedRequest) : model.firstRequestAfterCompaction();
  }

  /** What happens between two compactions. */
  async function work(index: number): Promise<void> {
    const state = (path: string): string => `${story.fact(`reading state:${path}`).text}.`;
    if (index === whenChanged) {
      writeFileSync(join(root, changedLater), `# ${changedLater}\n\nAgreed anew.\n`);
      story.changed(changedLater);
      await say('A file was edited.', reply.text(`Then: ${state(changedLater)}`));
    }
    if (index === whenRead) {
      story.read(readLater);
      await say('Read the acceptance list.', host.read(readLater, root), reply.text(state(readLater)));
    }
    if (index % everyDecision === 0) {
      const fact = story.decide();
      const prompt = `Another decision, in place of the one before. ${fact.id}: ${fact.text}`;
      await say(prompt, ...mechanism.decided(fact, story), reply.text('Understood.'));
    }
    if (index % everyAdvance === 0) {
      const to = story.advance();
      const closing = reply.text(`Now at ${to.text}. Next: ${to.next}`);
      await say('That part is good; go on to the next one.', ...mechanism.advances(to, story), closing);
    }
  }
}

/** Refusals of tools, which would invalidate the measurement. */
function refusalsIn(messages: LoggedRequest['body']['messages']): string[] {
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => JSON.stringify(content))
    .filter((text) => /\\?"code\\?":/.test(text));
}

const hookLog = (root: string): Played['log'] =>
  ['log.1.jsonl', 'log.jsonl']
    .map((name) => join(root, '.stepfast/sessions/hooks', name))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line));
