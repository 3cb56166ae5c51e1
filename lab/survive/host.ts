/** Plays the story in any host through its compactions, with a summarizer that forgets everything. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Answer,
  forgetsAll,
  type LoggedRequest,
  type MessageReply,
  mainTurn,
  reply,
  summariser,
} from '../../src/testing/index.ts';
import type { HostSession, HostStage, SessionHost } from '../../test/kit/host-stage.ts';
import { stepfastIn } from '../../test/kit/stepfast-in.ts';
import { stands } from './fact.ts';
import { standingIn } from './standing.ts';
import { createStepfast } from './stepfast.ts';
import {
  changedLater,
  createStory,
  readAtStart,
  reading,
  readLater,
  workflowName,
  written,
} from './story.ts';

export interface HostOutcome {
  host: string;
  /** Where the briefing is looked for. */
  where: SessionHost['afterCompaction'];
  compactions: number;
  manual: number;
  auto: number;
  facts: number;
  /** Share of the facts in the briefing, over all compactions, and after each. */
  kept: number;
  series: string;
  lost: string[];
}

const everyDecision = 5;
const everyAdvance = 4;
const whenChanged = 3;
const whenRead = 6;

export async function playInHost(host: SessionHost, compactions: number): Promise<HostOutcome> {
  const story = createStory(compactions);
  const nameOf = (tool: string): string => host.own(tool, {}).content[0]?.name ?? tool;
  const stepfast = createStepfast('', nameOf);
  const documents = Object.fromEntries(reading.map((path) => [path, `# ${path}\n\nAs it was agreed.\n`]));
  const stage = await host.prepare({ ...host.settings, ...stepfast.files, ...documents });
  const { model, project } = stage;
  let session: HostSession | undefined;
  try {
    const installed = await stepfastIn(stage, 'init', '--yes', '--host', host.name);
    if (installed.code !== 0) throw new Error(installed.stderr);
    model.always(summariser(), forgetsAll());
    session = await host.open(stage);
    const say = createSay(session, stage);
    await say(
      `Work on this with the workflow ${workflowName}.`,
      ...stepfast.begins(story),
      ...readAtStart.map((path) => host.read(path, project.root)),
      ...written.map((path) => host.write(path, 'export {};', project.root)),
      reply.text('All of that is understood.'),
    );
    const shares: number[] = [];
    const lost: string[] = [];
    for (let index = 1; index <= compactions; index += 1) {
      story.resetContext();
      const isManual = index % 2 === 1;
      const first = isManual ? await manually(say, session, stage) : await automatically(say, host, stage);
      const { briefing = '' } = standingIn(first);
      const handle = stepfast.handle?.() ?? '';
      const missing = story
        .facts()
        .filter(
          (fact) => !stands(fact, briefing) || (fact.kind === 'next action' && !briefing.includes(handle)),
        );
      lost.push(...missing.map(({ id }) => `${index} ${id}`));
      shares.push(1 - missing.length / story.facts().length);
      if (index === whenChanged) {
        writeFileSync(join(project.root, changedLater), `# ${changedLater}\n\nAgreed anew.\n`);
        story.changed(changedLater);
      }
      if (index === whenRead) {
        story.read(readLater);
        await say('Read the acceptance list.', host.read(readLater, project.root), reply.text('Read.'));
      }
      if (index % everyDecision === 0)
        await say('Another decision.', ...stepfast.decided(story.decide(), story), reply.text('Understood.'));
      if (index % everyAdvance === 0)
        await say(
          'Go on to the next part.',
          ...stepfast.advances(story.advance(), story),
          reply.text('Now there.'),
        );
    }
    const kept = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    return {
      host: host.name,
      where: host.afterCompaction,
      compactions,
      manual: Math.ceil(compactions / 2),
      auto: Math.floor(compactions / 2),
      facts: story.facts().length,
      // Never rounded up to 1.
      kept: Math.floor(kept * 1e4) / 1e4,
      series: shares.map((share) => Math.floor(share * 1e4) / 1e4).join(' '),
      lost: lost.slice(0, 20),
    };
  } finally {
    await session?.end();
    await model[Symbol.asyncDispose]();
    project[Symbol.dispose]();
  }
}

type Say = (prompt: string, ...answers: Answer[]) => Promise<void>;

const createSay =
  (session: HostSession, { model }: HostStage): Say =>
  async (prompt, ...answers) => {
    model.on(mainTurn(), ...answers);
    await session.send(prompt);
    if (model.left() > 0) throw new Error(`'${prompt}' ended with ${model.left()} answers left`);
  };

async function manually(say: Say, session: HostSession, { model }: HostStage): Promise<LoggedRequest> {
  await say('What time is it?', reply.text('Late.'));
  await session.compact();
  await say('And on.', reply.text('On it.'));
  return model.firstRequestAfterCompaction();
}

async function automatically(say: Say, host: SessionHost, { model }: HostStage): Promise<LoggedRequest> {
  const before = model.requestsOf('summariser').length;
  const full: MessageReply = host.shell('date +%s', { usage: host.nearlyFull });
  await say('Look at the clock.', full, reply.text('Late.'));
  const isLate = host.afterCompaction === 'next turn';
  if (isLate) await say('And on.', reply.text('On it.'));
  if (model.requestsOf('summariser').length <= before)
    throw new Error('the full context window was not compacted');
  return isLate ? (model.requestsOf('main').at(-1) as LoggedRequest) : model.firstRequestAfterCompaction();
}
