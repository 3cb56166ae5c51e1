/** What tests of the driver with agents that do not cooperate share. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Progress } from '../../src/driver/index.ts';
import type { Event } from '../../src/machine/index.ts';
import { createDriverStage, type DriverStage } from './driver-run.ts';

/** Nobody can be asked, so the project allows what the agents use. */
export const allowedTools = {
  '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash', 'Read', 'Write', 'Edit'] } }),
};

/** A stage whose workflow has these steps, each a line of YAML. */
export const createHostileStage = async (
  steps: readonly string[],
  files: Record<string, string> = {},
): Promise<DriverStage> =>
  await createDriverStage({
    ...allowedTools,
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Works\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`,
    ...files,
  });

/** What the drivers of the only run have reported, in order. */
export async function activityOf({ project }: Pick<DriverStage, 'project'>): Promise<Progress[]> {
  const runtime = project.runtime();
  const [id = ''] = await runtime.engine.ids();
  const file = join(runtime.project.directory, 'runs', id, 'activity.jsonl');
  if (!existsSync(file)) return [];
  // What the program writes, a line per report.
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Progress);
}

/** The reports of one type. */
export async function reportsOf<T extends Progress['type']>(
  stage: Pick<DriverStage, 'project'>,
  type: T,
): Promise<Extract<Progress, { type: T }>[]> {
  // The filter keeps only this type.
  return (await activityOf(stage)).filter((each) => each.type === type) as Extract<Progress, { type: T }>[];
}

/** The events of one type. */
export async function eventsOf<T extends Event['type']>(
  stage: Pick<DriverStage, 'events'>,
  type: T,
): Promise<Extract<Event, { type: T }>[]> {
  // The filter keeps only this type.
  return (await stage.events()).filter((each) => each.type === type) as Extract<Event, { type: T }>[];
}

/** One session, one turn, one check: the failures of the service have left no trace in the run. */
export async function expectUntouched(stage: DriverStage): Promise<void> {
  const view = await stage.run();
  expect(view?.state.status).toBe('complete');
  expect((await eventsOf(stage, 'gates.requested')).length).toBe(1);
  expect(await eventsOf(stage, 'position.completed')).toMatchObject([{ receipts: [{ pass: true }] }]);
  for (const type of ['position.failed', 'position.blocked', 'run.blocked', 'run.failed'] as const)
    expect(await eventsOf(stage, type)).toEqual([]);
  expect((await reportsOf(stage, 'session')).map(({ why }) => why)).toEqual(['start']);
  expect(Object.values(view?.state.told ?? {}).map(({ turns }) => turns)).toEqual([1]);
  const prompts = stage.model.requestsOf('main').map(({ lastUser }) => lastUser);
  for (const prompt of prompts) expect(prompt).toMatch(/INSTRUCTIONS-BUILD/);
}
