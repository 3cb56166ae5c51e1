import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { StepfastError } from '../errors.ts';
import { onPath } from '../on-path.ts';
import type { Environment } from '../runtime/index.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The host's process: lines out, messages in. */
export interface HostProcess {
  pid: number;
  write(message: object): void;
  closeInput(): void;
  onLine(listener: (line: string) => void): void;
  /** The end of what it wrote to its standard error. */
  stderr(): string;
  /** It has ended, and its last line was read. */
  finished: Promise<Exit>;
  isFinished(): boolean;
  end(graceMs: number): Promise<void>;
}

const stderrCharacters = 8_000;
/** A child that outlives the host may hold its output open. */
const lastLinesMs = 1_000;
/** A host without an output cannot be driven. */
const closedMs = 5_000;
const termMs = 5_000;

export interface HostCommand {
  /** Found on the PATH of `env`. */
  program: string;
  /** For people. */
  title: string;
  args: readonly string[];
  env: Environment;
  cwd: string;
}

/** Its path. Throws `host_missing` if it is not installed. */
export function requireProgram({
  program,
  title,
  env,
}: Pick<HostCommand, 'program' | 'title' | 'env'>): string {
  const found = onPath(program, env);
  if (found === undefined) throw missing(title, `There is no '${program}' on the PATH.`);
  return found;
}

const missing = (title: string, problem: string): StepfastError =>
  new StepfastError('host_missing', `${problem} Install ${title}, or add it to the PATH.`);

/** Throws `host_missing` if it cannot be started. */
export async function startHost({ program, title, args, env, cwd }: HostCommand): Promise<HostProcess> {
  const found = requireProgram({ program, title, env });
  const host = spawn(found, [...args], {
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group, so that its hooks and servers can be ended with it.
    detached: true,
  });
  let stderr = '';
  host.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrCharacters);
  });
  // A write to a host that has just ended; its exit is what counts.
  host.stdin.on('error', () => {});
  const lines = createInterface({ input: host.stdout });
  const closed = new Promise<void>((resolve) => lines.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve) => {
    host.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let done = false;
  const finished = exited.then(async (exit) => {
    await Promise.race([closed, delay(lastLinesMs)]);
    done = true;
    return exit;
  });
  const pid = await new Promise<number>((resolve, reject) => {
    host.once('spawn', () => resolve(host.pid ?? 0));
    host.once('error', (error) => reject(missing(title, `'${found}' cannot be started: ${error.message}`)));
  });
  closed.then(async () => {
    await Promise.race([exited, delay(closedMs)]);
    if (host.exitCode === null && host.signalCode === null) endGroup(pid, 'SIGKILL');
  });
  return {
    pid,
    write: (message) => void host.stdin.write(`${JSON.stringify(message)}\n`),
    closeInput: () => void host.stdin.end(),
    onLine: (listener) => void lines.on('line', listener),
    stderr: () => stderr,
    finished,
    isFinished: () => done,
    end: async (graceMs) => {
      host.stdin.end();
      await Promise.race([exited, delay(graceMs)]);
      endGroup(pid, 'SIGTERM');
      await Promise.race([exited, delay(termMs)]);
      // Also what it left behind in its group.
      endGroup(pid, 'SIGKILL');
      await finished;
    },
  };
}

function endGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // Already gone.
  }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
