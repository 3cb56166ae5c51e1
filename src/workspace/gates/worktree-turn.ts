import { hash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileWatch, watchFile } from '../../watch-file.ts';
import { isRunning, type Mark, markOf } from './runner-file.ts';

/** The runner whose turn it is, and when its turn ends at the latest. */
interface Turn extends Mark {
  until: number;
}

interface TurnOptions {
  cacheDirectory: string;
  host: string;
  /** The latest end of a turn that begins now. */
  until(): number;
  signal: AbortSignal;
  /** Called while another check runs. */
  onWait(): Promise<void>;
}

const pollMs = 200;
/** A runner that is killed leaves its file. */
const watchedPollMs = 1_000;

/**
 * Waits until no other check runs in the worktree: two test runs at once would share ports, build folders and
 * databases. Returns a function that ends the turn.
 */
export async function takeTurn(worktree: string, options: TurnOptions): Promise<() => void> {
  const directory = join(options.cacheDirectory, 'turns');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${hash('sha256', worktree, 'hex').slice(0, 24)}.json`);
  const reports = watchFile(file);
  try {
    return await turnOf(file, reports, options);
  } finally {
    reports.close();
  }
}

async function turnOf(
  file: string,
  reports: FileWatch,
  { host, until, signal, onWait }: TurnOptions,
): Promise<() => void> {
  while (!signal.aborted) {
    const theirs = read(file);
    const mine = JSON.stringify({ ...markOf(host), until: until() } satisfies Turn);
    const created = theirs === undefined && create(file, mine);
    if (created === 'unsupported') break;
    if (created) return () => removeIf(file, mine);
    if (theirs !== undefined && hasEnded(theirs, host)) removeIf(file, theirs);
    else {
      await onWait();
      await reports.next(reports.works ? watchedPollMs : pollMs, signal);
    }
  }
  return () => {};
}

function hasEnded(text: string, host: string): boolean {
  try {
    const turn: Turn = JSON.parse(text);
    return !(turn.until > Date.now()) || (turn.host === host && !isRunning(turn));
  } catch {
    return true;
  }
}

/** A link, so that the file appears with its content. Some file systems have none: checks do not wait for each other there. */
function create(file: string, text: string): boolean | 'unsupported' {
  const draft = own(file);
  writeFileSync(draft, text);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EEXIST' ? false : 'unsupported';
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Another runner may have taken the turn meanwhile: its file is put back. */
function removeIf(file: string, text: string): void {
  const taken = own(file);
  try {
    renameSync(file, taken);
    if (read(taken) !== text) linkSync(taken, file);
  } catch {
    // Another runner was faster.
  }
  rmSync(taken, { force: true });
}

const own = (file: string): string => `${file}.${process.pid}`;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
