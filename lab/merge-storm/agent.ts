import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import type { DrivenOptions, DrivenSession, HostDriver, TurnEnd } from '../../src/runtime/index.ts';
import type { Plan } from './plan.ts';

/** Runs the program for every line of its input. */
const loop = 'while read -r line; do sh "$0"; echo turn; done';

/** Sessions are shells that run `agent.sh` once a turn; the plan says what it does for the task. */
export function createStormDriver(
  plan: Plan,
  {
    folder,
    program,
    onTurn,
  }: {
    folder: string;
    program: string;
    /** The agent says that it is done. */
    onTurn(task: string, session: string): Promise<void>;
  },
): HostDriver {
  return { reports: ['turns'], find: async () => ({ program: 'sh' }), open };

  async function open({ cwd, env, onSession, onEvent }: DrivenOptions): Promise<DrivenSession> {
    const task = plan.tasks.find(({ id }) => id === basename(cwd));
    if (!task) throw new Error(`no task works in ${cwd}`);
    const session = randomUUID();
    await onSession?.(session);
    const child = spawn('sh', ['-c', loop, program], {
      cwd,
      env: {
        ...env,
        STORM: folder,
        STORM_TASK: task.id,
        STORM_SECONDS: String(task.ms / 1000),
        STORM_DOES: task.does.join(' '),
        STORM_LEAVES: task.leaves,
        STORM_BAD: String(task.bad),
        STORM_DEPENDS_ON: task.dependsOn.join(' '),
      },
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'close').then(() => {});
    child.stdin.on('error', () => {});
    let heard: (() => void) | undefined;
    createInterface({ input: child.stdout }).on('line', () => heard?.());
    return {
      session,
      pid: child.pid ?? 0,
      exited,
      async send(): Promise<TurnEnd> {
        const turn = new Promise<void>((resolve) => {
          heard = resolve;
        });
        child.stdin.write('\n');
        await Promise.race([turn, exited]);
        onEvent({ type: 'activity' });
        await onTurn(task.id, session);
        return { lastMessage: 'done', spent: { tokens: 0 }, denials: [] };
      },
      compact: async () => false,
      interrupt: async () => {},
      async end() {
        child.stdin.end();
        if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
          try {
            process.kill(-child.pid, 'SIGKILL');
          } catch {
            // It has ended meanwhile.
          }
        await exited;
      },
    };
  }
}
