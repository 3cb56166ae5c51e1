import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRunId, writeNoFollow } from '../store/index.ts';

/** The server runs that this project directory knows, one file each. A run that cannot be written is forgotten. */
export interface KnownRuns {
  /** The URL of its server. */
  homeOf(run: string): string | undefined;
  /** Also reopens a run that had ended. */
  add(run: string, url: string): void;
  /** The run stays known, to show its outcome. */
  end(run: string): void;
  drop(run: string): void;
  /** Runs of one server: possibly live ones, and the last that ended. */
  list(url: string): string[];
  /** Only those that may be live. */
  live(url: string): string[];
}

/** In `sessions`, which tree hashes and git ignore. */
export const knownRunsPath = 'sessions/homes';

const mostLive = 64;
const mostEnded = 16;
const over = 'ended';

/** `directory` is the project's `.stepfast`. Creates nothing before the first run. */
export function createKnownRuns(directory: string): KnownRuns {
  const folder = join(directory, knownRunsPath);
  const fileOf = (run: string): string => join(folder, run);
  return {
    homeOf: (run) => read(run)?.url,
    add(run, url) {
      const known = read(run);
      if (isRunId(run) && (known?.url !== url || known.ended)) write(run, `${url}\n`);
    },
    end(run) {
      const known = read(run);
      if (known && !known.ended) write(run, `${known.url}\n${over}\n`);
    },
    drop(run) {
      if (isRunId(run)) rmSync(fileOf(run), { force: true });
    },
    live: (url) => liveOf(allKnown(), url),
    list(url) {
      const known = allKnown();
      const ended = known.filter((each) => each.ended);
      for (const { run } of ended.slice(4 * mostEnded)) rmSync(fileOf(run), { force: true });
      const last = ended.filter((each) => each.url === url).slice(0, mostEnded);
      return [...liveOf(known, url), ...last.map(({ run }) => run)];
    },
  };

  /** Most recently written first. */
  function allKnown(): KnownRun[] {
    return names(folder)
      .filter(isRunId)
      .map((run) => ({ run, at: timeOf(fileOf(run)), ...(read(run) ?? { url: '', ended: true }) }))
      .sort((one, other) => other.at - one.at);
  }

  function read(run: string): { url: string; ended: boolean } | undefined {
    if (!isRunId(run)) return undefined;
    try {
      const [url = '', state] = readFileSync(fileOf(run), 'utf8').split('\n');
      return url === '' ? undefined : { url, ended: state === over };
    } catch {
      return undefined;
    }
  }

  function write(run: string, text: string): void {
    try {
      mkdirSync(folder, { recursive: true });
      const ignore = join(directory, 'sessions', '.gitignore');
      if (!existsSync(ignore)) writeNoFollow(ignore, '*\n');
      writeNoFollow(fileOf(run), text);
    } catch {
      // Callers can still name the run.
    }
  }
}

interface KnownRun {
  run: string;
  url: string;
  ended: boolean;
  at: number;
}

const liveOf = (known: readonly KnownRun[], url: string): string[] =>
  known
    .filter((each) => each.url === url && !each.ended)
    .slice(0, mostLive)
    .map(({ run }) => run);

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
