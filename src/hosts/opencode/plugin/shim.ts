import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { HookOutput } from '../../../runtime/index.ts';
import type { EventName } from '../events.ts';

export interface Shim {
  /** Never throws: without an answer the session continues as if there were no hook. */
  fire(mark: string, event: EventName, payload: object): Promise<HookOutput>;
  /** May wait for a long time; `end` gives up. */
  wake(payload: object): { answer: Promise<HookOutput>; end(): void };
  endAll(): void;
}

/** Longer than the limits of the host in Stepfast. */
const waitMs = (event: EventName): number =>
  event === 'session.idle' || event === 'subagent.idle'
    ? 65_000
    : event.startsWith('tool.')
      ? 10_000
      : 15_000;
const wakeMs = 2 * 60 * 60_000;

/** The script starts Node only where a run of this project asks for the event. */
export function createShim(root: string, cwd: string): Shim {
  const script = join(root, 'hooks', 'stepfast-hook.sh');
  const open = new Set<ChildProcess>();

  const start = (args: readonly string[], payload: object, limitMs: number) => {
    const child = spawn('sh', [script, ...args], { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
    open.add(child);
    const end = (): void => void child.kill('SIGKILL');
    const late = setTimeout(end, limitMs);
    const answer = new Promise<HookOutput>((resolve) => {
      let stdout = '';
      const over = (): void => {
        clearTimeout(late);
        open.delete(child);
        resolve(parsed(stdout));
      };
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.once('error', over);
      child.once('close', over);
      // The script may end before it has read anything.
      child.stdin.on('error', () => {});
      child.stdin.end(JSON.stringify(payload));
    });
    return { answer, end };
  };

  return {
    fire: async (mark, event, payload) =>
      await start([mark, 'opencode', event], { hook_event_name: event, ...payload }, waitMs(event)).answer,
    wake: (payload) => {
      const event: EventName = 'session.idle';
      return start(['stop_wake', 'opencode', event, 'wake'], { hook_event_name: event, ...payload }, wakeMs);
    },
    endAll() {
      for (const child of open) child.kill('SIGKILL');
    },
  };
}

function parsed(stdout: string): HookOutput {
  try {
    // Written by `render`.
    return stdout === '' ? {} : (JSON.parse(stdout) as HookOutput);
  } catch {
    return {};
  }
}
