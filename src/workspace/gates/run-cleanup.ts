import type { Executed } from '../../engine/index.ts';
import { checkCommand } from '../../evidence/index.ts';
import { type CommandOf, needsCleanup } from '../../machine/index.ts';
import type { GateOptions, GateRun } from './gate-options.ts';
import { retryWhileAway, writeOutputs } from './gate-runner.ts';
import { commandVariables } from './gate-variables.ts';

/** How long a result waits for a server that is away. */
const patienceMs = 600_000;

/** Runs the commands of `finally` and reports each, unless another process does. One that fails stops none. */
export async function runCleanup(
  { project, trust, env, host }: GateOptions,
  logs: string,
  { engine, clock, run }: Omit<GateRun, 'id'>,
): Promise<void> {
  const view = await engine.view(run);
  // Checked again, because any program may have started this process.
  if (!view || !trust.has(view.definition) || !needsCleanup(view.state)) return;
  const by = () => ({ now: clock(), actor: { kind: 'engine' as const }, runner: { pid: process.pid, host } });
  const { reply } = await engine.execute(run, { ...by(), type: 'cleanupStarted' });
  if ('code' in reply) return;
  const report = (result: Omit<CommandOf<'cleanupFinished'>, 'type' | 'now'>): Promise<Executed> => {
    const command = { ...by(), ...result, type: 'cleanupFinished' as const };
    return retryWhileAway(
      () => engine.execute(run, command),
      () => clock() < command.now + patienceMs,
    );
  };
  const { status } = view.state;
  const outputs = await writeOutputs(engine, view, logs);
  const request = {
    worktree: project.worktree,
    env: { ...commandVariables(env, view.state), ...outputs, STEPFAST_STATUS: status },
    logDirectory: logs,
  };
  for (const [index, { id: step, ...command }] of (view.definition.finally ?? []).entries()) {
    const { pass, exit, tail } = await checkCommand(request, command, index).catch(notStarted);
    await report({ step, pass, ...(exit === undefined ? {} : { exit }), ...(tail ? { tail } : {}) });
  }
}

const notStarted = (error: unknown): { pass: false; exit?: number; tail: string } => ({
  pass: false,
  tail: `could not be run: ${error instanceof Error ? error.message : String(error)}`.slice(0, 4000),
});
