import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMarks, type Marks, type Project } from '../../workspace/index.ts';
import type { SessionKey } from '../sessions/binding.ts';

/** A command that must be green before a session of one worktree may stop. */
export interface Hold {
  command: string;
  worktree: string;
  since: number;
  until: number;
}

/** The last result of the command. */
export interface LastCheck {
  now: number;
  verdict: 'green' | 'red' | 'unfinished';
  ms: number;
}

/**
 * The hold of one worktree. Hooks run its command, so it is stored outside every repository, like trust: a cloned file
 * cannot set it. Only its mark is in the project.
 */
export interface Holds {
  /** For 24 hours; replaces an earlier hold. */
  set(command: string, now: number): Hold;
  /** An expired hold is removed. */
  get(now: number): Hold | undefined;
  drop(): boolean;
  /** How often the session was held since the command was last green. */
  times(session: SessionKey): number;
  held(session: SessionKey): void;
  /** The tree that the command was last green on. */
  readonly passed: string | undefined;
  /** Resets all counts. An unchanged tree is not checked again. */
  pass(tree: string | undefined): void;
  last: LastCheck | undefined;
  /** For the lock and the log of checks. */
  readonly folder: string;
}

export const holdMs = 24 * 3_600_000;
const prefix = 'hold.';

export function createHolds(project: Pick<Project, 'worktree' | 'directory'>, stateDirectory: string): Holds {
  const name = short(project.worktree);
  const folder = join(stateDirectory, 'holds', name);
  const counts = join(folder, 'held');
  const marks = (): Marks => createMarks(project.directory);
  return {
    folder,
    set(command, now) {
      drop();
      const hold = { command, worktree: project.worktree, since: now, until: now + holdMs };
      write('hold.json', hold);
      marks().want(`${prefix}${name}.${Math.ceil(hold.until / 1000)}`, ['stop']);
      return hold;
    },
    get(now) {
      const hold = readHold();
      if (hold && hold.until > now) return hold;
      if (hold) drop();
      // Other marks may belong to another user of the same project.
      for (const reason of reasons()) if (endOf(reason) <= now) marks().drop(reason);
      return undefined;
    },
    drop,
    times: (session) => Number(readText(join(counts, short(session)))) || 0,
    held(session) {
      mkdirSync(counts, { recursive: true });
      writeFileSync(join(counts, short(session)), String(this.times(session) + 1));
    },
    get passed() {
      const known = readJson('passed.json');
      return typeof known?.tree === 'string' ? known.tree : undefined;
    },
    pass(tree) {
      rmSync(counts, { recursive: true, force: true });
      if (tree === undefined) rmSync(join(folder, 'passed.json'), { force: true });
      else write('passed.json', { tree });
    },
    get last() {
      // Only the setter writes it.
      return readJson('last.json') as LastCheck | undefined;
    },
    set last(check) {
      write('last.json', check);
    },
  };

  function drop(): boolean {
    const known = existsSync(folder);
    rmSync(folder, { recursive: true, force: true });
    for (const reason of reasons()) if (reason.startsWith(`${prefix}${name}.`)) marks().drop(reason);
    return known;
  }

  function reasons(): string[] {
    return marks()
      .reasons()
      .filter((reason) => reason.startsWith(prefix));
  }

  function readHold(): Hold | undefined {
    const { command, worktree, since, until } = readJson('hold.json') ?? {};
    if (typeof command !== 'string' || command === '' || worktree !== project.worktree) return undefined;
    if (typeof since !== 'number' || typeof until !== 'number') return undefined;
    return { command, worktree: project.worktree, since, until };
  }

  function readJson(file: string): Record<string, unknown> | undefined {
    try {
      const read: unknown = JSON.parse(readText(join(folder, file)));
      // Callers check the fields.
      return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Renames a temporary file, because another hook may read the file at the same time. */
  function write(file: string, value: unknown): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const temporary = join(folder, `${file}.${process.pid}.tmp`);
    writeFileSync(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600 });
    renameSync(temporary, join(folder, file));
  }
}

/** Whether any worktree of the project has a hold. Cheap, for hooks without a run. */
export const hasHold = (marks: Marks): boolean => marks.reasons().some((reason) => reason.startsWith(prefix));

/** The expiry time in the name of the mark. */
const endOf = (reason: string): number => Number(reason.split('.').at(-1)) * 1000 || 0;

const short = (of: unknown): string =>
  createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 16);

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
