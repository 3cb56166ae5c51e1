import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StepfastError } from '../errors.ts';
import { createOutputLog } from './output-log.ts';
import { hasGroups, terminateGroup } from './process-group.ts';
import { createTextSearch } from './text-search.ts';

export interface CommandResult {
  /** null if a signal ended it. */
  exit: number | null;
  signal?: NodeJS.Signals | undefined;
  timedOut: boolean;
  aborted: boolean;
  ms: number;
  /** The last 4 KB of the output, as text. */
  tail: string;
  digest: string;
  bytes: number;
  /** The standard output, where it was asked for; one byte too long if it exceeds the limit. */
  stdout?: Buffer;
  /** Whether the whole output contains the text that was asked for. */
  contains: boolean;
}

/** How long to wait for output of processes that the command left behind. */
const leftoverMs = 300;

/**
 * Runs a shell command in its own process group, without input. The whole group is gone when it resolves, whether the
 * command ended, timed out, was aborted, or left processes behind. Throws `command_not_started`.
 */
export async function runCommand(request: {
  command: string;
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  /** The output file, overwritten. */
  log: string;
  /** A text to look for in the output. */
  contains?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Keeps so many bytes of the standard output, apart from the error output. */
  stdoutBytes?: number | undefined;
}): Promise<CommandResult> {
  const { timeoutMs, signal, stdoutBytes } = request;
  const log = createOutputLog(request.log);
  const search = createTextSearch(request.contains ?? '');
  const write = (chunk: Buffer): void => {
    log.write(chunk);
    search.write(chunk);
  };
  const started = performance.now();
  let timedOut = false;
  let ending: Promise<void> | undefined;
  const { child, outputs } = await start(request);
  const { pid } = child;
  const end = (): Promise<void> => {
    ending ??= pid === undefined ? Promise.resolve() : terminateGroup(pid);
    return ending;
  };
  const stdout = stdoutBytes === undefined ? undefined : createKeeper(stdoutBytes + 1);
  const drained = Promise.all(
    outputs.map((output, index) =>
      drain(output, (chunk) => {
        write(chunk);
        if (index === 0) stdout?.keep(chunk);
      }),
    ),
  );
  const timer = setTimeout(() => {
    timedOut = true;
    void end();
  }, timeoutMs);
  const abort = (): void => void end();
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    const [exit, killer]: [number | null, NodeJS.Signals | null] = await exited(child, request.cwd);
    clearTimeout(timer);
    const ms = Math.round(performance.now() - started);
    const pause = new AbortController();
    await Promise.race([drained, sleep(leftoverMs, undefined, { signal: pause.signal }).catch(() => {})]);
    pause.abort();
    await end();
    const aborted = signal?.aborted ?? false;
    const contains = search.finish();
    const kept = stdout && { stdout: stdout.kept() };
    return { exit, signal: killer ?? undefined, timedOut, aborted, ms, ...log.finish(), contains, ...kept };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    for (const output of outputs) output.destroy();
  }
}

function createKeeper(most: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    keep(chunk: Buffer): void {
      if (bytes < most) chunks.push(chunk.subarray(0, most - bytes));
      bytes += chunk.length;
    },
    kept: (): Buffer => Buffer.concat(chunks),
  };
}

/** The standard output is the first of the outputs. */
async function start(request: {
  command: string;
  cwd: string;
  env: Record<string, string>;
  stdoutBytes?: number | undefined;
}): Promise<{
  child: ChildProcess;
  outputs: Readable[];
}> {
  const { command, cwd, env, stdoutBytes } = request;
  if (!hasGroups) {
    const options = { cwd, env, windowsHide: true, windowsVerbatimArguments: true };
    const child = spawn('cmd', ['/d', '/s', '/c', `"${command}"`], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { child, outputs: [child.stdout, child.stderr] };
  }
  const pipes = stdoutBytes === undefined ? [await openPipe()] : [await openPipe(), await openPipe()];
  const [out, error = out] = pipes.map(({ writer }) => writer);
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', out, error] });
  for (const { writer } of pipes) closeSync(writer);
  const outputs = pipes.map(({ reader }) => new Socket({ fd: reader, readable: true, writable: false }));
  return { child, outputs };
}

/**
 * One pipe for stdout and stderr keeps their order, where stdout is not kept apart. A named pipe, because Node's own pipes are sockets, which a command
 * cannot reopen as /dev/stderr.
 */
async function openPipe(): Promise<{ reader: number; writer: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'stepfast-pipe-'));
  const path = join(directory, 'output');
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function exited(child: ChildProcess, cwd: string): Promise<[number | null, NodeJS.Signals | null]> {
  try {
    const [exit, signal] = await once(child, 'exit');
    return [exit, signal];
  } catch (cause) {
    const message = `the command could not be started in ${cwd}: check that the directory and a shell exist`;
    throw new StepfastError('command_not_started', message, { cause });
  }
}

function drain(output: Readable, write: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    output.on('data', write);
    output.once('close', resolve);
    // A broken pipe has no more output.
    output.on('error', () => {});
  });
}
