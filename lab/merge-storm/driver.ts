/** The driver of a run as a process of its own, which the storm kills. Prints what happens as lines of JSON. */
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { defaultTiming, drive } from '../../src/driver/index.ts';
import { template } from '../../src/hosts/template/index.ts';
import { handleOf } from '../../src/machine/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createStormDriver } from './agent.ts';
import { type Plan, visitedFile } from './plan.ts';

export interface DriverInput {
  plan: Plan;
  run: string;
  branch: string;
  /** The checkout of the person, and the worktree in which the run works. */
  root: string;
  worktree: string;
  home: string;
  env: Record<string, string>;
  /** A folder for notes of agents, and their program. */
  folder: string;
  program: string;
  cli: string;
}

/** What this process prints. */
export type Said =
  | { type: 'merging'; task: string }
  | { type: 'merged'; task: string }
  | { type: 'held'; reason: string }
  | { type: 'waits'; reason: string }
  | { type: 'over'; end: string };

const input = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as DriverInput;
const { plan, run, branch, root, worktree, home, env, folder, program, cli } = input;
const say = (said: Said): void => void writeSync(1, `${JSON.stringify(said)}\n`);
const runner = { program: process.execPath, args: [cli, 'gate-runner'] };
const runtime = openRuntime({ cwd: root, worktree, home, env, runner });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const hostDriver = createStormDriver(plan, {
  folder,
  program,
  async onTurn(task, session) {
    // At the end of a turn the driver checks gates by itself; without any, an agent uses its tool.
    const state = plan.gated ? undefined : (await runtime.engine.view(run))?.state;
    const cursor = Object.values(state?.cursors ?? {}).find((each) => each.task === task);
    if (!state || !cursor) return;
    const at = handleOf(state, cursor);
    await runtime.call({ type: 'advance', output: 'done', at }, { session }, { run });
  },
});
const outcome = await drive({
  ...{ runtime, run, branch, env, hostDriver, host: template, stays: plan.stays },
  command: [process.execPath, cli],
  plugin: '',
  commits: worktree !== root,
  clock: Date.now,
  timing: { ...defaultTiming, tickMs: 100, pollMs: 500, heldMs: 100 },
  signal: stop.signal,
  report(progress) {
    if (progress.type === 'merge' && progress.state === 'merging') visit(progress.task);
    if (progress.type === 'merge' && (progress.state === 'merging' || progress.state === 'merged'))
      say({ type: progress.state, task: progress.task });
    if (progress.type === 'merge' && progress.state === 'held')
      say({ type: 'held', reason: progress.detail ?? '' });
    if (progress.type === 'waits') say({ type: 'waits', reason: progress.reason });
  },
});
say({ type: 'over', end: outcome.end });

function visit(task: string): void {
  const path = runtime.workspace.taskWorktree(run, task);
  const note = join(folder, `visited-${task}`);
  if (!plan.visited.includes(task) || path === undefined || existsSync(note)) return;
  writeFileSync(join(path, visitedFile), task);
  writeFileSync(note, '');
  appendFileSync(join(folder, 'visited'), `${task}\n`);
}
