import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { State, Status } from '../machine/index.ts';
import type { LiveRun } from '../runtime/index.ts';
import { writeNoFollow } from '../store/index.ts';
import type { Project } from '../workspace/index.ts';

/**
 * What hooks mostly ask of a run, so that most of them need neither the journal nor the machine. Made again whenever
 * the journal has grown: a journal only grows, so its size says whether they still hold. A run of a server has none
 * here, so only their age says how far they can be believed.
 */
export interface Facts {
  v: 1;
  /** 0: it lives on a server. */
  journal: number;
  made?: number;
  live: LiveRun;
  /** Of a run on a server: what a line about it shows. */
  shown?: { phase: Phase; state: State };
  /** A stop may be held. */
  holds: boolean;
  /** A context action is waited for, which a person may have to be told. */
  asks: boolean;
  /** Tools that some agent may not use. */
  cannot: string[];
  /** Files whose reading matters, and files that are known as artefacts, from the top of the worktree. */
  reading: string[];
  artefacts: string[];
  /** Where it is the same for every session, and no file but the reading belongs to it. */
  briefing?: Compiled;
}

export interface Compiled {
  id: string;
  text: string;
  at?: string;
  now: number;
  /** The worktree that it was compiled in, and how the files that it tells of looked. */
  worktree: string;
  files: [file: string, seen: string][];
}

type Phase = Status['phase'];

const version = 1;

const factsFile = ({ directory }: Project, run: string): string =>
  join(directory, 'sessions', 'facts', `${run}.json`);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

export const journalSize = ({ directory }: Project, run: string): number =>
  sizeOf(join(directory, 'runs', run, 'journal.jsonl'));

/** undefined where they do not hold any more; of a run on a server where they were not made `since` then. */
export function readFacts(
  project: Project,
  run: string,
  since = Number.POSITIVE_INFINITY,
): Facts | undefined {
  try {
    // Only `writeFacts` writes them.
    const facts = JSON.parse(readFileSync(factsFile(project, run), 'utf8')) as Facts;
    if (facts.v !== version || facts.journal !== journalSize(project, run)) return undefined;
    return facts.journal > 0 || (facts.made ?? 0) >= since ? facts : undefined;
  } catch {
    return undefined;
  }
}

export function writeFacts(project: Project, run: string, facts: Facts): void {
  const file = factsFile(project, run);
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeNoFollow(temporary, JSON.stringify(facts));
  renameSync(temporary, file);
}

export const dropFacts = (project: Project, run: string): void =>
  rmSync(factsFile(project, run), { force: true });

/** How files of a worktree look from outside. */
export const looksIn = (worktree: string, paths: readonly string[]): Compiled['files'] =>
  paths.map((path) => {
    const file = join(worktree, path.replace(/^@/, '').replace(/^\{project_root\}\/?/, ''));
    return [file, looksOf(file)];
  });

export function looksOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.size} ${stats.mtimeMs} ${stats.ino}` : '';
}
