import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { contextOf, outputsAt, type WorkflowStateMachine } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import { runGates } from '../../evidence/index.ts';
import type { Cursor, Status } from '../../machine/index.ts';
import { findProject, type Project } from '../project.ts';
import { readCommand } from '../required-reading.ts';
import { gateRequest } from './gate-request.ts';

export interface PendingGatesOptions {
  /** The directory that the gates check. */
  worktree: string;
  /** The environment of commands; that of this process by default. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where the whole output of commands is kept; by default only its end is, in the receipts. */
  logDirectory?: string;
  /** Stops the running command. The position is open again, and no attempt is counted. */
  signal?: AbortSignal;
}

/**
 * Runs the gates that the last `advance` of a machine requested, reports their results to it and returns the status
 * after them: a green position is left, a red one has `failed_gates`. Returns the status at once if no gates are pending.
 * Commands of the workflow are executed, so call it only for workflows that you trust.
 *
 * @example
 * ```ts
 * import { defineWorkflow, runPendingGates, WorkflowStateMachine } from 'stepfast';
 *
 * const workflow = defineWorkflow({
 *   name: 'fix',
 *   description: 'Fix a bug',
 *   steps: [{ id: 'fix', type: 'action', instructions: 'Fix it.', gate: [{ run: 'npm test' }] }],
 * });
 * const machine = new WorkflowStateMachine(workflow);
 * machine.advance('I have fixed it.');
 * const { status, failed_gates = [] } = await runPendingGates(machine, { worktree: process.cwd() });
 * console.log(status, failed_gates[0]?.tail);
 * ```
 */
export async function runPendingGates(
  machine: WorkflowStateMachine,
  options: PendingGatesOptions,
): Promise<Status> {
  const project = projectAt(options.worktree);
  for (;;) {
    const cursor = Object.values(machine.state.cursors).find(({ checking }) => checking);
    if (!cursor) return machine.getStatus();
    await runAt(machine, cursor, project, options);
    if (options.signal?.aborted) return machine.getStatus();
  }
}

/**
 * Records that the agent has read a file as it is now, which `read` gates ask for. Throws `no_file` if there is no such
 * file in the worktree.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate, recordReading, WorkflowStateMachine } from 'stepfast';
 *
 * const machine = new WorkflowStateMachine(loadWorkflowTemplate('go'), { inputs: { task: 'Fix the login' } });
 * recordReading(machine, 'docs/guide.md', { worktree: process.cwd() });
 * ```
 */
export function recordReading(
  machine: WorkflowStateMachine,
  path: string,
  { worktree }: Pick<PendingGatesOptions, 'worktree'>,
): void {
  const command = readCommand(path, projectAt(worktree));
  if (!command)
    throw new StepfastError('no_file', `There is no file '${path}' in ${worktree}: check the path.`);
  machine.execute({ ...command, now: machine.now() });
}

/** The directory itself, wherever the repository's top is. */
function projectAt(worktree: string): Project {
  const { git, worktree: top, worktrees } = findProject(worktree, { worktree });
  return { root: worktree, worktree, directory: join(top, '.stepfast'), git, worktrees };
}

async function runAt(
  machine: WorkflowStateMachine,
  cursor: Cursor,
  project: Project,
  { env = process.env, signal, ...options }: PendingGatesOptions,
): Promise<void> {
  const { checking } = cursor;
  if (!checking) return;
  const { id, deadline } = checking;
  const runner = { pid: process.pid, host: hostname() };
  const byEngine = () => ({ now: machine.now(), actor: { kind: 'engine' as const } });
  const started = byEngine();
  // Gates that change files run twice.
  const extended = started.now + 2 * (deadline - started.now);
  machine.execute({ ...started, type: 'gatesStarted', id, runner, deadline: extended });
  const { template: definition, state } = machine;
  const texts = outputsAt(state, cursor).map(
    ([key, text]) => [key, typeof text === 'string' ? text : text.opening] as const,
  );
  const context = contextOf({ definition, state }, texts, cursor);
  let result: Awaited<ReturnType<typeof runGates>> | undefined;
  const logDirectory = options.logDirectory ?? (await mkdtemp(join(tmpdir(), 'stepfast-gates-')));
  try {
    result = await runGates({
      ...gateRequest({ definition, state, cursor, checking, context, project, env }),
      logDirectory,
      ...(signal ? { signal } : {}),
    });
  } finally {
    if (!result || signal?.aborted) machine.execute({ ...byEngine(), type: 'status', runnerAlive: false });
    if (options.logDirectory === undefined) await rm(logDirectory, { recursive: true, force: true });
  }
  if (!signal?.aborted) machine.execute({ ...byEngine(), type: 'gatesFinished', id, runner, ...result });
}
