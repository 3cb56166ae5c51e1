import { createHash, hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandEnvironment, createMatcher, runCommand, truncateToTail } from '../../evidence/index.ts';
import { type Definition, handleOf, type State } from '../../machine/index.ts';
import { setUpFailedText } from '../../messages/index.ts';
import { copyIgnored } from '../copy-ignored.ts';
import { drivenVariable } from '../leftover-processes.ts';
import { mainWorktree } from '../project.ts';
import { filesIn } from '../worktrees/changes.ts';
import { gitFolderOf, taskWorktree } from '../worktrees/places.ts';
import type { GateOptions, GateRun } from './gate-options.ts';
import { commandVariables } from './gate-variables.ts';
import { markRunner } from './runner-file.ts';
import { takeTurn } from './worktree-turn.ts';

/** A worktree to set up: that of a task, of a run, or of its merge queue. */
interface NewWorktree {
  definition: Definition;
  state: State;
  task?: string | undefined;
  slot?: number | undefined;
  path: string;
}

interface SetUpOptions {
  logs: string;
  signal: AbortSignal;
  timeoutMs?: number;
  /** Of its processes, if they must end with the driver that runs them. */
  mark?: string;
}

/** As that of a gate without a `timeout`. */
const defaultMs = 600_000;
/** The reason of a failure has 2,000 characters. */
const tailBytes = 1600;

/** In git's folder of the worktree: it is gone with the worktree. */
const markName = 'stepfast-set-up';

/** False until the worktree has all that the workflow wants a new one to have; what changed since is not asked. */
export const isSetUp = ({ worktree = {} }: Definition, path: string): boolean =>
  (worktree.setup === undefined && worktree.copy === undefined) || existsSync(markOf(path));

/**
 * Copies files into a new worktree and runs its setup command; returns why it could not. In one that is set up the
 * command runs again if files of `inputs` changed. One process at a time does it; what was interrupted begins again.
 */
export async function setUpWorktree(
  { definition, state, task, slot, path }: NewWorktree,
  { project, trust, env, host, cacheDirectory }: GateOptions,
  { logs, signal, timeoutMs = defaultMs, mark }: SetUpOptions,
): Promise<string | undefined> {
  const { setup, copy } = definition.worktree ?? {};
  if (await isCurrent(definition, path)) return undefined;
  if (!trust.has(definition)) return `'${definition.name}' is not trusted on this machine`;
  const endTurn = await takeTurn(join(path, markName), {
    cacheDirectory,
    host,
    until: () => Date.now() + 2 * timeoutMs,
    signal,
    onWait: async () => {},
  });
  try {
    if (await isCurrent(definition, path)) return undefined;
    const isNew = !existsSync(markOf(path));
    const main = mainWorktree(project);
    if (isNew && copy && main === undefined)
      return 'a bare repository has no main worktree to copy files from';
    const problem =
      isNew && copy && main !== undefined
        ? await copyIgnored(copy, { from: main, to: path, env })
        : undefined;
    if (problem !== undefined || signal.aborted) return problem ?? 'stopped';
    const failure = setup === undefined ? undefined : await failureOf(setup);
    // After the command, which may write a lock file itself.
    if (failure === undefined) writeFileSync(markOf(path), await inputsHash(definition, path));
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
      env: commandEnvironment({
        ...commandVariables(env, state, task, slot),
        ...(mark === undefined ? {} : { [drivenVariable]: mark }),
      }),
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
      const problem = await setUpWorktree({ ...view, task, slot: cursor.slot, path }, options, {
        logs,
        signal,
      });
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

const markOf = (path: string): string => join(gitFolderOf(path), markName);

/** Whether it is set up, and nothing changed that the command depends on. */
export async function isCurrent(definition: Definition, path: string): Promise<boolean> {
  if (!isSetUp(definition, path)) return false;
  return (
    definition.worktree?.setup === undefined || read(markOf(path)) === (await inputsHash(definition, path))
  );
}

/** For packages that are installed. */
const lockFiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'Gemfile.lock',
  'go.sum',
  'composer.lock',
  'requirements*.txt',
].map((name) => `**/${name}`);

/** Of the names and contents of all `inputs`; ignored files do not count. */
async function inputsHash({ worktree = {} }: Definition, path: string): Promise<string> {
  const isInput = createMatcher(worktree.inputs ?? lockFiles);
  const files = (await filesIn(path)).filter(isInput).sort();
  const sum = createHash('sha256');
  for (const file of files) sum.update(`${file}\0${hash('sha256', readBytes(join(path, file)), 'hex')}\0`);
  return sum.digest('hex');
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    // It was deleted, or it is a link to nothing.
    return Buffer.alloc(0);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
