import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Event, parseHandle } from '../../src/machine/index.ts';
import { createTestProject, type TestFiles, type TestProject } from '../../src/testing/index.ts';
import { playScript, type Script } from './scripted-agent.ts';

export const exampleDirectory = join(import.meta.dirname, '../../examples/workflows');

interface Played {
  project: TestProject;
  status: string;
  /** Paths of positions in the order of their completion. */
  completed: string[];
  skipped: string[];
  /** Red runs of gates. */
  reds: number;
  pivots: { from: string; to: string }[];
  /** How each task ended, by its title. */
  tasks: Record<string, string | undefined>;
  /** How many tasks were held at once. */
  mostHeld: number;
}

/** A project with an example, which is played to its end. Its user removes the project. */
export async function playExample(
  file: string,
  files: TestFiles,
  script: Script,
  folder = '.stepfast/workflows',
): Promise<Played> {
  const project = createTestProject({
    ...files,
    // As `stepfast init` writes it.
    '.stepfast/.gitignore': 'runs/\nsessions/\nworktrees/\n',
    [`${folder}/${file}`]: readFileSync(join(exampleDirectory, file)),
  });
  try {
    return await playAgain(project, script);
  } catch (error) {
    project[Symbol.dispose]();
    throw error;
  }
}

export async function playAgain(project: TestProject, script: Script): Promise<Played> {
  const { engine } = project.runtime();
  const before = new Set((await engine.runs()).map(({ run }) => run));
  await playScript(project, script);
  const { run = '' } = (await engine.runs()).find((each) => !before.has(each.run)) ?? {};
  const state = (await engine.view(run))?.state;
  const events = (await engine.entries(run)).flatMap((entry) => entry.events);
  const list = Object.values(state?.tasks ?? {}).flatMap(({ byId }) => Object.values(byId));
  return {
    project,
    status: state?.status ?? 'lost',
    completed: events.flatMap((event) =>
      event.type === 'position.completed' ? (parseHandle(event.at)?.path ?? event.at) : [],
    ),
    skipped: events.flatMap((event) => (event.type === 'step.skipped' ? event.step : [])),
    reds: events.filter((event) => event.type === 'gates.finished' && !event.pass).length,
    pivots: events.flatMap((event) =>
      event.type === 'run.pivoted' ? { from: event.from, to: event.to } : [],
    ),
    tasks: Object.fromEntries(list.map(({ title, end }) => [title, end])),
    mostHeld: mostHeld(events),
  };
}

function mostHeld(events: readonly Event[]): number {
  const held = new Set<string>();
  let most = 0;
  for (const event of events) {
    if (event.type === 'position.entered' && event.task !== undefined) held.add(event.task);
    if (event.type === 'task.ended') held.delete(event.task);
    most = Math.max(most, held.size);
  }
  return most;
}

/** A test file for `node --test`. */
export const testFile = (imports: string, ...claims: string[]): string =>
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
${imports}
${claims.map((claim, index) => `test('rule ${index + 1}', () => ${claim});`).join('\n')}
`;
