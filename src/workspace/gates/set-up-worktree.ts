import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandEnvironment, runCommand, truncateToTail } from '../../evidence/index.ts';
import { type Definition, handleOf, type State } from '../../machine/index.ts';
import { setUpFailedText } from '../../messages/index.ts';
import { copyIgnored } from '../copy-ignored.ts';
import { mainWorktree } from '../project.ts';
import { taskWorktree } from '../task-worktree.ts';
import type { GateOptions, GateRun } from './gate-options.ts';
import { commandVariables } from './gate-variables.ts';
import { markRunner } from './runner-file.ts';
import { takeTurn } from './worktree-turn.ts';

/** A worktree to set up. */
interface NewWorktree {
  definition: Definition;
  state: State;
  task: string;
  path: string;
}

/** As that of a gate without a `timeout`. */
const defaultMs = 600_000;
/** The reason of a failure has 2,000 characters. */
const tailBytes = 1600;

/** In git's folder of the worktree: it is gone with the worktree. */
const markName = 'stepfast-set-up';

/** False until the worktree has all that the workflow wants a new one to have. */
export const isSetUp = ({ worktree = {} }: Definition, path: string): boolean =>
  (worktree.setup === undefined && worktree.copy === undefined) || existsSync(markOf(path));

/**
 * Copies files into a new worktree and runs its setup command; returns why it could not. One process at a time does it;
 * what was interrupted begins again.
 */
export async function setUpWorktree(
  { definition, state, task, path }: NewWorktree,
  { project, trust, env, host, cacheDirectory }: GateOptions,
  { logs, signal, timeoutMs = defaultMs }: { logs: string; signal: AbortSignal; timeoutMs?: number },
): Promise<string | undefined> {
  const { setup, copy } = definition.worktree ?? {};
  if (isSetUp(definition, path)) return undefined;
  if (!trust.has(definition)) return `'${definition.name}' is not trusted on this machine`;
  const endTurn = await takeTurn(join(path, markName), {
    cacheDirectory,
    host,
    until: () => Date.now() + 2 * timeoutMs,
    signal,
    onWait: async () => {},
  });
  try {
    if (isSetUp(definition, path)) return undefined;
    const main = mainWorktree(project);
    if (copy && main === undefined) return 'a bare repository has no main worktree to copy files from';
    const problem =
      copy && main !== undefined ? await copyIgnored(copy, { from: main, to: path, env }) : undefined;
    if (problem !== undefined || signal.aborted) return problem ?? 'stopped';
    const failure = setup === undefined ? undefined : await failureOf(setup);
    if (failure === undefined) writeFileSync(markOf(path), '');
    return failure;
  } finally {
    endTurn();
  }

  async function failureOf(command: string): Promise<string | undefined> {
    mkdirSync(logs, { recursive: true });
    const {
      exit,
      timedOut,
      tail,
      signal: killer,
    } = await runCommand({
      command,
      cwd: path,
      env: commandEnvironment(commandVariables(env, state, task)),
      timeoutMs,
      log: join(logs, 'setup.log'),
      signal,
    });
    if (exit === 0 && !timedOut) return undefined;
    const how = timedOut
      ? `timed out after ${timeoutMs / 1000} s`
      : exit === null
        ? `was killed by ${killer}`
        : `exited with ${exit}`;
    return `'${command.trim().slice(0, 200)}' ${how}\n${truncateToTail(tail.trimEnd(), tailBytes)}`.trimEnd();
  }
}

/** The id of the process that sets up the worktree of a task: no gate run has one like it. */
export const setUpId = (task: string): string => `setup:${task}`;
export const taskOfSetUp = (id: string): string | undefined => /^setup:(.+)$/s.exec(id)?.[1];

/** The open position of a claimed task. */
export const cursorOfTask = ({ cursors }: State, task: string) =>
  Object.values(cursors).find((cursor) => cursor.task === task);

/** Sets up the worktree of a task; a failure fails the task, and `on_fail` decides whether it is tried again. */
export async function runSetUp(
  options: GateOptions,
  logs: string,
  { engine, clock, run }: GateRun,
  task: string,
  signal: AbortSignal,
): Promise<void> {
  const path = taskWorktree(options.project, run, task);
  if (path === undefined) return;
  const unmark = markRunner(logs, options.host);
  rmSync(problemFile(logs), { force: true });
  try {
    for (let last: string | undefined; ; ) {
      const view = await engine.view(run);
      const cursor = view && cursorOfTask(view.state, task);
      const at = view && cursor && handleOf(view.state, cursor);
      if (!view || !cursor || at === last || cursor.waiting) return;
      const problem = await setUpWorktree({ ...view, task, path }, options, { logs, signal });
      if (problem === undefined || signal.aborted) return;
      writeFileSync(problemFile(logs), problem);
      last = at;
      const by = { now: clock(), actor: { kind: 'engine' as const } };
      await engine.execute(run, { ...by, type: 'fail', at, reason: setUpFailedText(problem) });
    }
  } finally {
    rmSync(join(logs, 'asked'), { force: true });
    unmark();
  }
}

const problemFile = (logs: string): string => join(logs, 'problem.txt');

/** Why the last setup failed. */
export const setUpProblem = (logs: string): string => read(problemFile(logs));

function markOf(path: string): string {
  return join(resolve(path, /^gitdir:\s*(.+?)\s*$/m.exec(read(join(path, '.git')))?.[1] ?? '.git'), markName);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
