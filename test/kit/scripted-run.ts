/** A run that is driven in this process, with a scripted host, real git and real gates. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import {
  type DriveOptions,
  defaultTiming,
  drive,
  type Outcome,
  type Progress,
  type Timing,
} from '../../src/driver/index.ts';
import { newRun } from '../../src/engine/index.ts';
import type { Event, EventType, State } from '../../src/machine/index.ts';
import { isRefused, type LocalRuntime, type Request } from '../../src/runtime/index.ts';
import { createTestProject, type TestProject } from '../../src/testing/index.ts';
import { createRunWorktree, runBranch } from '../../src/workspace/index.ts';
import { runtimeWithGates } from './gates-here.ts';
import { createScriptedHost, type ScriptedAgent, scriptedHost } from './scripted-host.ts';

type Of<T extends { type: string }, K> = Extract<T, { type: K }>;

export interface Driving {
  ended: Promise<Outcome>;
  /** As a person stops it. */
  stop(): void;
}

export interface DriveRequest {
  /** Waits for people. */
  stays?: boolean;
  timing?: Partial<Timing>;
  more?: Partial<DriveOptions>;
}

export interface ScriptedRun {
  project: TestProject;
  agent: ScriptedAgent;
  run: string;
  branch: string;
  worktree: string;
  runtime: LocalRuntime;
  /** All that the drivers have reported. */
  reports: Progress[];
  start(request?: DriveRequest): Driving;
  /** The same, to its end. Returns `complete`, `waits`, ... */
  drive(request?: DriveRequest): Promise<Outcome['end']>;
  /** Drives the run to a good end, with a script that fits. */
  complete(request?: DriveRequest): Promise<void>;
  state(): Promise<State>;
  until(fits: (state: State) => boolean): Promise<State>;
  events<T extends EventType>(type: T): Promise<Of<Event, T>[]>;
  reported<T extends Progress['type']>(type: T): Of<Progress, T>[];
  /** A decision of a person, made from outside. */
  decide(request: Request): Promise<void>;
  /** The driver's clock jumps ahead. */
  skip(ms: number): void;
  git(...args: string[]): string;
  /** A file of the worktree exists. */
  has(file: string): boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Looks as often as a test would not notice. */
const quick: Partial<Timing> = { tickMs: 10, pollMs: 50, serviceMs: 1, longestServiceMs: 5, heldMs: 20 };

/** A run of a workflow that has these steps, in a worktree of its own or in the checkout. */
export async function createScriptedRun(
  steps: string,
  files: Record<string, string> = {},
  { here = false }: { here?: boolean } = {},
): Promise<ScriptedRun> {
  const project = createTestProject({
    'a.txt': 'a',
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Works\n${steps}`,
    ...files,
  });
  // Git of the driver has the environment of its process.
  for (const [key, value] of Object.entries(project.env)) vi.stubEnv(key, value);
  project.trust('w');
  let skipped = 0;
  const clock = (): number => Date.now() + skipped;
  const { env, home } = project;
  const runtimeIn = (cwd: string): LocalRuntime => runtimeWithGates({ cwd, env, home, clock });
  const outside = runtimeIn(project.root);
  const id = newRun('w', clock());
  const tree = here ? undefined : await createRunWorktree(outside.project, { run: id });
  const runtime = tree ? runtimeIn(tree.path) : outside;
  const branch = tree?.branch ?? 'main';
  const { reply } = await runtime.start({ workflow: 'w', id, resume: false }, { actor: { kind: 'engine' } });
  if (isRefused(reply)) throw new Error(JSON.stringify(reply));
  const { agent, driver } = createScriptedHost({ runtimeIn, clock });
  const reports: Progress[] = [];
  const driving: Driving[] = [];

  const state = async (): Promise<State> => {
    const view = await runtime.engine.view(id);
    if (!view) throw new Error('The run is gone.');
    return view.state;
  };
  const start: ScriptedRun['start'] = ({ stays = true, timing, more } = {}) => {
    const stop = new AbortController();
    const ended = drive({
      ...{ runtime, host: scriptedHost, hostDriver: driver, run: id, branch, env },
      ...{ command: [], plugin: '', clock, stays },
      commits: branch === runBranch(id),
      timing: { ...defaultTiming, ...quick, ...timing },
      signal: stop.signal,
      report: (progress) => reports.push(progress),
      ...more,
    });
    // Whoever waits for it sees the failure.
    ended.catch(() => {});
    const each = { ended, stop: () => stop.abort() };
    driving.push(each);
    return each;
  };
  const driveOn: ScriptedRun['drive'] = async (request) =>
    (await start({ stays: false, ...request }).ended).end;

  return {
    ...{
      project,
      agent,
      run: id,
      branch,
      worktree: runtime.project.worktree,
      runtime,
      reports,
      start,
      state,
    },
    drive: driveOn,
    complete: async (request) => {
      expect(await driveOn(request)).toBe('complete');
      expect(agent.left()).toBe(0);
      expect(await state()).toMatchObject({ status: 'complete', driver: { released: true } });
    },
    until: async (fits) => {
      await expect.poll(async () => fits(await state()), { interval: 10 }).toBe(true);
      return await state();
    },
    // The filters keep only this type.
    events: async <T extends EventType>(type: T) =>
      (await runtime.engine.entries(id))
        .flatMap(({ events }) => events)
        .filter((event) => event.type === type) as Of<Event, T>[],
    reported: <T extends Progress['type']>(type: T) =>
      reports.filter((each) => each.type === type) as Of<Progress, T>[],
    decide: async (request) => {
      const person = { actor: { kind: 'person', name: 'ann' } } as const;
      const { reply: answer } = await outside.call(request, person, { run: id });
      if (isRefused(answer)) throw new Error(JSON.stringify(answer));
    },
    skip: (ms) => {
      skipped += ms;
    },
    git: (...args) => project.git(...args).trim(),
    has: (file) => existsSync(join(runtime.project.worktree, file)),
    async [Symbol.asyncDispose]() {
      for (const each of driving) {
        each.stop();
        await each.ended.catch(() => {});
      }
      vi.unstubAllEnvs();
      project[Symbol.dispose]();
    },
  };
}
