/** `stepfast run` as a person starts it, with a pinned host and a scripted model. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../../src/cli/index.ts';
import type { Progress, Timing } from '../../src/driver/index.ts';
import type { Event, EventType, State } from '../../src/machine/index.ts';
import { isRefused, type Request } from '../../src/runtime/index.ts';
import type { Loaded } from '../../src/store/index.ts';
import { runWorktree } from '../../src/workspace/index.ts';
import { claudeHost } from './claude-host.ts';
import { createDrivenProject, type DrivenProject } from './driven.ts';
import type { DrivenHost } from './host-stage.ts';

const cli = join(packageRoot(), 'dist', 'cli.js');

/** Quick clocks: waits for the model service and looks at the run take no time that a test would notice. */
export const quick: Partial<Timing> = {
  tickMs: 100,
  pollMs: 200,
  serviceMs: 200,
  longestServiceMs: 1_000,
  heldMs: 300,
};

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface DriverProcess {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** What it has printed so far. */
  printed(): string;
}

export interface DriverStage extends Omit<DrivenProject, 'events'> {
  /** Starts `stepfast run` in the checkout of the person. */
  start(args: readonly string[], timing?: Partial<Timing>): DriverProcess;
  /** The same, to its end. */
  drive(args: readonly string[], timing?: Partial<Timing>): Promise<Ended>;
  /** Any other command, as a person at a terminal would run it. */
  stepfast(...args: string[]): string;
  /** The only run, or undefined before it has begun. */
  run(): Promise<Loaded | undefined>;
  events(): Promise<Event[]>;
  eventsOf<T extends EventType>(type: T): Promise<Extract<Event, { type: T }>[]>;
  state(): Promise<State>;
  /** Resolves with the state that fits. */
  until(fits: (state: State) => boolean): Promise<State>;
  /** What the drivers reported so far. */
  activity<T extends Progress['type']>(type: T): Promise<Extract<Progress, { type: T }>[]>;
  /** A decision of a person, made from outside. */
  decide(request: Request): Promise<void>;
  /** Where the run works. */
  worktree(): Promise<string>;
  git(...args: string[]): string;
}

const limitMs = 240_000;
const lookMs = 50;

export async function createDriverStage(
  files: Record<string, string>,
  { workflow = 'w', host = claudeHost }: { workflow?: string; host?: DrivenHost } = {},
): Promise<DriverStage> {
  const stage = await createDrivenProject({ ...host.settings, ...files }, host);
  const { project, env } = stage;
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: project.root, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  git('config', 'user.email', 'person@example.com');
  git('config', 'user.name', 'Person');
  git('add', '-A');
  if (git('status', '--porcelain') !== '') git('commit', '-q', '-m', 'first');
  project.trust(workflow);
  const started: ChildProcess[] = [];
  const runs = async (): Promise<Loaded | undefined> => {
    const { engine } = project.runtime();
    const [id] = await engine.ids();
    return id === undefined ? undefined : await engine.view(id);
  };

  const events = async (): Promise<Event[]> => {
    const { engine } = project.runtime();
    const [id = ''] = await engine.ids();
    return (await engine.entries(id)).flatMap(({ events: each }) => each);
  };
  const state = async (): Promise<State> => {
    const view = await runs();
    if (!view) throw new Error('There is no run.');
    return view.state;
  };

  const start = (args: readonly string[], timing: Partial<Timing> = {}): DriverProcess => {
    const child = spawn(process.execPath, [cli, 'run', '--host', host.name, ...args], {
      cwd: project.root,
      env: { ...env, STEPFAST_DRIVER_TIMING: JSON.stringify({ ...quick, ...timing }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code) => {
        clearTimeout(late);
        resolve({ code, stdout, stderr });
      });
    });
    return { child, ended, printed: () => stdout + stderr };
  };

  return {
    ...stage,
    start,
    drive: async (args, timing) => await start(args, timing).ended,
    stepfast: (...args) =>
      execFileSync(process.execPath, [cli, ...args], {
        cwd: project.root,
        env,
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    run: runs,
    events,
    // The filters keep only this type.
    eventsOf: async <T extends EventType>(type: T) =>
      (await events()).filter((event) => event.type === type) as Extract<Event, { type: T }>[],
    state,
    async until(fits) {
      const late = Date.now() + limitMs;
      for (;;) {
        const view = await runs();
        if (view && fits(view.state)) return view.state;
        if (Date.now() > late) throw new Error(`The run did not get there: ${JSON.stringify(view?.state)}`);
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
    },
    activity: async <T extends Progress['type']>(type: T) => {
      const file = join(project.runtime().project.directory, 'runs', (await state()).run, 'activity.jsonl');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      return lines
        .map((line) => JSON.parse(line) as Progress)
        .filter((each) => each.type === type) as Extract<Progress, { type: T }>[];
    },
    async decide(request) {
      const { run } = await state();
      const person = { actor: { kind: 'person', name: 'ann' } } as const;
      const { reply } = await project.runtime().call(request, person, { run });
      if (isRefused(reply)) throw new Error(`refused: ${JSON.stringify(reply)}`);
    },
    async worktree() {
      const { run } = await state();
      const path = runWorktree(project.runtime().project, run);
      if (path === undefined) throw new Error('The run has no worktree.');
      return path;
    },
    git,
    async [Symbol.asyncDispose]() {
      for (const child of started) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGTERM');
        await new Promise((resolve) => child.once('close', resolve));
      }
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** A project whose workflow `w` has these steps. */
export const stageWith = async (
  steps: string,
  files: Record<string, string> = {},
  host: DrivenHost = claudeHost,
): Promise<DriverStage> =>
  await createDriverStage(
    { '.stepfast/workflows/w.yaml': `name: w\ndescription: Works\n${steps}`, ...files },
    { host },
  );

/** Drives the run to its end, which has to be a good one, with a script that fits. */
export async function complete(
  stage: DriverStage,
  args: readonly string[] = ['w', '--no-wait'],
): Promise<void> {
  const ended = await stage.drive(args);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  await expectComplete(stage);
}

export async function expectComplete(stage: DriverStage): Promise<void> {
  expect(await stage.state()).toMatchObject({ status: 'complete', driver: { released: true } });
  expect(stage.model.left()).toBe(0);
  expect(stage.model.unmatched().filter(({ kind }) => kind === 'main')).toEqual([]);
}
