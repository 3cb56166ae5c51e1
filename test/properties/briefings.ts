import type { Artifact, BriefingSource, Cap } from '../../src/context/index.ts';
import {
  type Command,
  type Definition,
  leastBriefing,
  requiredReading,
  respond,
  type State,
  statusOf,
} from '../../src/machine/index.ts';
import { nextForTools } from '../../src/messages/index.ts';
import { memory, randomCommand } from './commands.ts';
import { Dice } from './dice.ts';
import { dense, line, text } from './texts.ts';

/** Everything that a briefing can contain, with texts of every kind and length. */
export function randomSource(plain: Definition, seed: number): BriefingSource {
  const dice = new Dice(seed);
  const definition = adorned(plain, dice);
  const { state: told, now } = played(definition, dice);
  const state = dice.one(3) ? pulled(told, dice) : told;
  const cursor = dice.one(8) ? undefined : dice.pick(Object.values(state.cursors));
  const next = nextForTools(statusOf(definition, state, { cursor, session: 'A' }).action);
  const reading = requiredReading(definition, state).map((path) => ({
    path,
    state: dice.pick(['read', 'before', 'unread', 'changed', 'missing'] as const) ?? 'read',
  }));
  return {
    definition,
    state,
    ...(cursor ? { cursor } : {}),
    session: 'A',
    values: { project_root: 'PROJECT' },
    now: now + dice.roll(1_000_000),
    ...(dice.one(3) ? {} : { tree: 't1' }),
    ...(dice.one(6) ? { worktree: `trees/${line(dice, dice.one(2) ? 100 : 600)}` } : {}),
    next: dice.one(10) ? text(dice, 2000) : next,
    more: dice.one(2) ? 'workflow_context, section {section}' : 'stepfast prime --section {section}',
    reading,
    ...(dice.one(3) ? { differences: Array.from({ length: dice.roll(9) }, () => text(dice, 500)) } : {}),
    artifacts: Array.from({ length: dice.one(2) ? 0 : dice.roll(6) }, (_, at) =>
      artifact(dice, `artifact-${at}`, dice.pick(reading)?.path),
    ),
  };
}

/** As hosts and workflows have it: one line, or both. */
export function randomCap(dice: Dice): Cap {
  const tokens = leastBriefing.tokens + (dice.one(3) ? 0 : dice.roll(5500));
  const characters = leastBriefing.characters + (dice.one(3) ? 0 : dice.roll(1000));
  return dice.pick([{ tokens }, { characters }, { tokens, characters }]) ?? { tokens };
}

function adorned(plain: Definition, dice: Dice): Definition {
  const wordy: Definition = {
    ...plain,
    name: dice.one(4) ? dense(dice, 100) : 'feature',
    inputs: Object.fromEntries(names(dice, 5).map((name) => [name, { type: 'string' as const }])),
    required_reading: names(dice, 30).map((name) => `@docs/${dice.one(4) ? line(dice, 300) : name}.md`),
    key_reminders: Array.from({ length: dice.roll(12) }, () => line(dice, 1000)),
    variables: Object.fromEntries(names(dice, 20).map((name) => [name, text(dice, 1000)])),
    steps: plain.steps.map((step) =>
      step.instructions ? { ...step, instructions: text(dice, 5000) } : step,
    ),
  };
  if (!dice.one(3)) return wordy;
  // Ids as long and as dense as they may be. Only strings change, so it stays a Definition.
  const ids = new Map<string, string>();
  const longer = JSON.stringify(wordy).replaceAll(/"(s\d|sub\d)"/g, (_, id: string) => {
    if (!ids.has(id)) ids.set(id, `${id}${dense(dice, 55)}`);
    return `"${ids.get(id)}"`;
  });
  return JSON.parse(longer) as Definition;
}

const names = (dice: Dice, most: number): string[] =>
  Array.from({ length: dice.roll(most) }, (_, at) => `${dice.one(4) ? dense(dice, 40) : 'name'}${at}`);

function played(definition: Definition, dice: Dice): { state: State; now: number } {
  const remembered = memory();
  const inputs = Object.fromEntries(
    Object.keys(definition.inputs ?? {}).map((name) => [name, text(dice, 3000)]),
  );
  const first = {
    type: 'start' as const,
    now: remembered.now,
    run: 'random-20261114-k3f9x2ab',
    session: 'A',
  };
  let { state } = respond(definition, null, { ...first, inputs, summary: text(dice, 200) });
  const send = (command: Command): void => {
    state = respond(definition, state, command).state;
  };
  for (let count = dice.roll(60); count > 0 && state; count -= 1)
    send(told(randomCommand(definition, state, dice, remembered), dice));
  const { now } = remembered;
  for (let count = dice.one(2) ? 0 : dice.roll(40); count > 0; count -= 1) {
    const kind = dice.pick(['decision', 'rejection', 'correction', 'reminder'] as const) ?? 'decision';
    const key = dice.one(3) ? { key: dense(dice, 60) } : {};
    send({ type: 'note', now, kind, text: text(dice, dice.one(3) ? 400 : 60), ...key });
  }
  if (!state) throw new Error('the run has not started');
  return { state, now };
}

/** What no command lets in, and another machine may have written all the same. */
function pulled(state: State, dice: Dice): State {
  const say = (): string => text(dice, 300);
  return {
    ...state,
    summary: say(),
    inputs: { ...state.inputs, [say()]: say() },
    variables: { ...state.variables, [say()]: say() },
    artefacts: [...state.artefacts, say()],
    questions: [...state.questions, { id: 'q99', at: say(), text: say() }],
    outputs: { ...state.outputs, [say()]: { at: '', now: 0, receipts: [], text: say(), reviewed: say() } },
    tasks: { ...state.tasks, [say()]: { order: ['t'], byId: { t: { id: 't', title: say() } } } },
  };
}

/** The same command in other words. */
function told(command: Command, dice: Dice): Command {
  switch (command.type) {
    case 'advance':
      return { ...command, output: text(dice, 3000) };
    case 'fail':
      return { ...command, reason: text(dice, 3000) };
    case 'review':
      return { ...command, feedback: text(dice, 900) };
    case 'ask':
    case 'answer':
      return { ...command, text: text(dice, 3000) };
    case 'note':
      return { ...command, text: text(dice, 400) };
    case 'setTasks': {
      const tasks = command.tasks.map((task) => ({
        ...task,
        title: text(dice, 500),
        description: text(dice, 2000),
      }));
      return { ...command, tasks };
    }
    case 'gatesFinished':
      return { ...command, receipts: command.receipts.map((each) => ({ ...each, tail: text(dice, 4000) })) };
    default:
      return command;
  }
}

function artifact(dice: Dice, id: string, path: string | undefined): Artifact {
  const common = {
    id,
    type: 'markdown' as const,
    description: dice.one(2) ? id : line(dice, 1000),
    required: dice.one(2),
    triggers: ['session_start'],
  };
  switch (dice.roll(8)) {
    case 0: {
      const state = dice.pick(['missing', 'refused'] as const) ?? 'missing';
      return { ...common, content: { state, source: `@${line(dice, 300)}`, why: text(dice, 500) } };
    }
    case 1:
      return { ...common, content: { state: 'command', command: `/${line(dice, 300)}`, done: dice.one(2) } };
    case 2:
      return { ...common, content: { state: 'not_needed' } };
    case 3:
      return { ...common, content: { state: 'unclear', why: text(dice, 500) } };
    case 4:
      return { ...common, content: { state: 'kept', source: `@${text(dice, 300)}`, since: dice.roll(1e9) } };
    default: {
      const content = text(dice, dice.one(2) ? 600 : 9000);
      const source = dice.one(3) && path !== undefined ? path : `@docs/${id}.md`;
      const warnings = dice.one(4) ? [line(dice, 400)] : [];
      const hash = `sha256:${dense(dice, 64)}`;
      return {
        ...common,
        content: { state: 'loaded', source, text: content, hash, bytes: content.length, warnings },
      };
    }
  }
}
