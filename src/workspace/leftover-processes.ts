import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { factsOf } from './process-facts.ts';

/**
 * Set in the environment of a driven session to a value of its own. Children inherit it, also those that leave the
 * process group, so that what a session leaves behind can be found.
 */
export const drivenVariable = 'STEPFAST_DRIVEN';

/** Set in the environment of git to the process that started it: git goes on when that process is killed. */
export const gitOwnerVariable = 'STEPFAST_GIT_OF';

/** Of commands that a driver runs itself: the next driver of the run ends what a killed one left of them. */
export const driverMark = (run: string): string => `${run}/driver`;

type Environment = Readonly<Record<string, string | undefined>>;

/** For processes that outlive the session that started them: gates, set-ups, notifications. */
export function withoutDrivenMark(env: Environment): Environment {
  const { [drivenVariable]: _mark, ...rest } = env;
  return rest;
}

export interface MarkedProcess {
  pid: number;
  /** With the pid it identifies the process. */
  startedAt: string;
  command: string;
}

/** The processes of this user that were started with this mark, or with one below it if it ends in `/`; never this one. */
export const markedProcesses = (mark: string): MarkedProcess[] => startedWith(`${drivenVariable}=${mark}`);

function startedWith(entry: string): MarkedProcess[] {
  const pids = process.platform === 'linux' ? inProc(entry) : byPs(entry);
  return pids.flatMap((pid) => {
    const facts = pid === process.pid ? undefined : factsOf(pid);
    return facts ? [{ pid, startedAt: facts.started, command: facts.command.trim() }] : [];
  });
}

const isBelow = (each: string, entry: string): boolean =>
  entry.endsWith('/') ? each.startsWith(entry) : each === entry;

function inProc(entry: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8')
          .split('\0')
          .some((each) => isBelow(each, entry));
      } catch {
        // It has ended, or belongs to another user.
        return false;
      }
    })
    .map(Number);
}

/** The environment follows the command. Nothing is found on Windows, which has no `ps`. */
function byPs(entry: string): number[] {
  const { stdout } = spawnSync('ps', ['eww', '-axo', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return (stdout ?? '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words.some((each) => isBelow(each, entry)))
    .map(([pid]) => Number(pid));
}

const termMs = 2_000;
const pollMs = 50;

/** Asks them to end, then ends them. A process whose pid now has another start time is left alone. */
export async function endProcesses(processes: readonly MarkedProcess[], graceMs = termMs): Promise<void> {
  signal(processes, 'SIGTERM');
  const deadline = Date.now() + graceMs;
  while (processes.some(isSame) && Date.now() < deadline) await setTimeout(pollMs);
  signal(processes, 'SIGKILL');
}

const gitMs = 60_000;

/** Until git has ended that a killed process had started: it still writes and holds its locks. */
export async function waitForGitOf(pid: number): Promise<void> {
  const left = startedWith(`${gitOwnerVariable}=${pid}`);
  const deadline = Date.now() + gitMs;
  while (left.some(isSame) && Date.now() < deadline) await setTimeout(pollMs);
}

const isSame = ({ pid, startedAt }: MarkedProcess): boolean => factsOf(pid)?.started === startedAt;

function signal(processes: readonly MarkedProcess[], name: NodeJS.Signals): void {
  for (const each of processes.filter(isSame)) {
    try {
      process.kill(each.pid, name);
    } catch {
      // It has just ended.
    }
  }
}
