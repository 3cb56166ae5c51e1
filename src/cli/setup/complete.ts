import { listWorkflows } from '../../definition/index.ts';
import { printable } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { type Command, commands, shownCommands } from '../commands.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { isLive } from '../look/run-table.ts';
import { openRuntime } from '../run-options.ts';
import { handlesOf } from '../view/run-view.ts';

interface Candidate {
  word: string;
  about?: string | undefined;
}

/** Never fails and prints no errors: the shell calls it while the user types. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const words = (args[0] ?? '').split(/\s+/);
    const current = words.at(-1) ?? '';
    const found = await candidatesFor(words.slice(1, -1), current, io);
    const lines = found
      .filter(({ word }) => word.startsWith(current))
      .map(({ word, about }) => `${printable(word)}${about ? `\t${printable(about)}` : ''}\n`);
    io.stdout.write(lines.join(''));
  } catch {
    // No candidates.
  }
  return exit.ok;
}

async function candidatesFor(before: readonly string[], current: string, io: Io): Promise<Candidate[]> {
  const [name, ...rest] = before;
  if (name === undefined || (name === 'help' && rest.length === 0))
    return [...shownCommands.map(({ name: word, summary }) => ({ word, about: summary })), { word: 'help' }];
  const command = commands.find((one) => one.name === name);
  if (!command) return [];
  const flags = flagsOf(command);
  if (current.startsWith('-')) return flags;
  const previous = flags.find(({ word }) => word === rest.at(-1));
  if (previous?.takes !== undefined) return await candidatesOfKind(previous.takes, io);
  const takes = new Set(flags.flatMap(({ word, takes: value }) => (value === undefined ? [] : [word])));
  const given = rest.filter(
    (word, index) => !word.startsWith('-') && !takes.has(rest[index - 1] ?? ''),
  ).length;
  const kind = positionalsOf(command)[given];
  return kind === undefined ? [] : await candidatesOfKind(kind, io);
}

function flagsOf({ options: all }: Command): (Candidate & { takes?: string | undefined })[] {
  return all.flatMap(([flag, about]) => {
    const takes = /<([^>]+)>/.exec(flag)?.[1];
    return [...flag.matchAll(/--?[\w-]+/g)].map(([word]) => ({ word, about, takes }));
  });
}

/** The arguments in the usage before the first option: `stepfast rewind <step>` takes a step. */
function positionalsOf({ usage }: Command): string[] {
  const words = usage.split(' ').slice(2);
  const end = words.findIndex((word) => /^\[?-/.test(word));
  return (end === -1 ? words : words.slice(0, end)).map((word) => word.replace(/[[\]<>.]/g, ''));
}

/** Keeps completion responsive when the server is slow. */
const completionMs = 500;

async function candidatesOfKind(kind: string, io: Io): Promise<Candidate[]> {
  if (kind.includes('|') && !kind.startsWith('|')) return kind.split('|').map((word) => ({ word }));
  const runtime = openRuntime(io, {}, { patienceMs: completionMs });
  if (kind === 'workflow' || kind === 'files') return workflowNames(runtime);
  const runs = await runtime.engine.runs();
  const live = runs.filter(isLive).flatMap(({ state }) => state ?? []);
  switch (kind) {
    case 'run':
      return runs.map(({ run: word, state }) => ({ word, about: state?.summary ?? state?.status }));
    case 'handle':
      return live.flatMap((state) => handlesOf(state).map((word) => ({ word, about: state.summary })));
    case 'verdict':
      return ['approve', 'revise', 'pivot', 'escalate', 'abandon'].map((word) => ({ word }));
    case 'kind':
      return ['decision', 'rejection', 'correction', 'reminder', 'variable', 'artefact', 'reading'].map(
        (word) => ({ word }),
      );
    case 'task':
      return live.flatMap(({ tasks }) =>
        Object.values(tasks).flatMap(({ byId }) =>
          Object.values(byId)
            .filter(({ end }) => end === undefined)
            .map(({ id, title }) => ({ word: id, about: title })),
        ),
      );
    case 'step':
    case 'loop':
      return await stepsOf(
        live.map((state) => state.run),
        kind,
        runtime,
      );
    default:
      return [];
  }
}

function workflowNames({ searchPath }: LocalRuntime): Candidate[] {
  return listWorkflows(searchPath)
    .filter(({ shadowedBy, base }) => shadowedBy === undefined && !base)
    .map(({ name, description }) => ({ word: name, about: description }));
}

async function stepsOf(
  runs: readonly string[],
  kind: 'step' | 'loop',
  { engine }: LocalRuntime,
): Promise<Candidate[]> {
  const views = await Promise.all(runs.map((id) => engine.view(id)));
  const steps = views
    .flatMap((view) => view?.definition.steps ?? [])
    .filter(({ type }) => kind === 'step' || type === 'loop');
  return [...new Set(steps.map(({ id }) => id))].map((word) => ({ word }));
}
