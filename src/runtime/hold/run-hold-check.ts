import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandEnvironment, runCommand, treeOf } from '../../evidence/index.ts';
import { isAlive } from '../../workspace/index.ts';
import type { Environment } from '../host.ts';
import type { Hold, Holds } from './holds.ts';

export type HoldCheck =
  /** `known`: the tree did not change since the last pass, so the command was not run. */
  | { verdict: 'green'; known: boolean }
  | { verdict: 'red'; exit: number | null; ms: number; tail: string }
  /** Timed out, or another session's check is running. */
  | { verdict: 'unfinished'; ms: number; busy: boolean };

interface CheckOptions {
  env: Environment;
  /** The time limit of the hook. */
  boundMs: number;
  /** Caches file hashes without git. */
  cacheDirectory: string;
}

/** The limit of the command, even if the hook has more time. */
const commandMs = 45_000;
const treeMs = 3000;
const pauseMs = 50;
/** An older lock was left by a crash: no hook runs this long. */
const staleMs = 70_000;

/** Runs the command of a hold, unless it passed on the same tree. One session at a time. */
export async function checkHold(hold: Hold, holds: Holds, options: CheckOptions): Promise<HoldCheck> {
  const began = performance.now();
  const left = (): number => options.boundMs - (performance.now() - began);
  const lock = join(holds.folder, 'lock');
  while (!taken(lock)) {
    if (left() < treeMs)
      return { verdict: 'unfinished', ms: Math.round(performance.now() - began), busy: true };
    await sleep(pauseMs);
  }
  try {
    return await checkAlone(hold, holds, { ...options, left });
  } finally {
    rmSync(lock, { force: true });
  }
}

async function checkAlone(
  { command, worktree }: Hold,
  holds: Holds,
  { env, cacheDirectory, left }: CheckOptions & { left(): number },
): Promise<HoldCheck> {
  const tree = async (): Promise<string | undefined> =>
    (await treeOf({ worktree, boundMs: treeMs, cacheDirectory })).hash;
  const before = await tree();
  if (before !== undefined && before === holds.passed) {
    holds.pass(before);
    return { verdict: 'green', known: true };
  }
  // The host kills the hook after its time limit; the command must end too.
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  process.once('SIGTERM', giveUp);
  const { exit, timedOut, aborted, ms, tail } = await runCommand({
    command,
    cwd: worktree,
    env: commandEnvironment(env),
    timeoutMs: Math.max(1, Math.min(commandMs, left() - treeMs)),
    log: join(holds.folder, 'output.log'),
    signal: stop.signal,
  }).finally(() => process.off('SIGTERM', giveUp));
  if (timedOut || aborted) return { verdict: 'unfinished', ms, busy: false };
  if (exit !== 0) return { verdict: 'red', exit, ms, tail };
  const after = await tree();
  holds.pass(after === before ? after : undefined);
  return { verdict: 'green', known: false };
}

function taken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleMs || !isKept(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/** Whether the owner of the lock is alive, as far as it can be checked. */
function isKept(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    return !(pid > 0) || isAlive(pid);
  } catch {
    return true;
  }
}
