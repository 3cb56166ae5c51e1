import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookKind, Load, SessionKey, Source } from '../runtime/index.ts';
import { createMarks, type Project } from '../workspace/index.ts';
import type { Compiled } from './facts.ts';
import { names, readJson, short, timeOf, unlinkQuietly, writeWhole } from './session-files.ts';
import { createHanded, type HandedWords } from './subagent-prompts.ts';

/** What was last injected into a session's context, or is still to be. */
export interface Sent {
  run: string;
  /** How the context began that it was for. */
  source: Source | 'subagent';
  /** Absent: a compaction began, and nothing was injected since. */
  id?: string;
  text?: string;
  /** The position that it was about. */
  at?: string;
  tries: number;
  /** How often somebody looked for it and could not tell. */
  looked?: number;
  proven?: 'transcript' | 'handle' | 'none';
  /** Before a compaction: what is injected after it, unless the run goes on meanwhile. */
  ahead?: Ahead;
  /** It was, and the run was told nothing of that yet. */
  owes?: Owed;
}

export interface Ahead extends Compiled {
  /** The journal's size, which says whether it still holds. */
  journal: number;
  loads: Load[];
}

export interface Owed {
  /** When the context began. */
  since: number;
  /** The critical artifacts that it was told of. */
  loads: Load[];
}

/** What hooks remember of one session between them, in a folder of its own. What cannot be written is forgotten. */
export interface Notebook {
  /** undefined: this session's beginning was never seen. */
  readonly sent: Sent | undefined;
  send(sent: Sent): void;
  /** Whether this event is the first copy of itself; `id` tells it from others of its kind. */
  first(kind: HookKind, id: string, now: number): boolean;
  readonly handed: HandedWords;
  /** Whether this was not told to the person before. */
  tellOnce(what: string): boolean;
  /** The session is over; what keeps copies of its last event apart stays. */
  close(): void;
}

/** It was given a whole briefing, or is still to be; not merely told that others are at work. */
export const wasBriefed = (sent: Sent | undefined): sent is Sent =>
  sent !== undefined && (sent.id !== undefined || sent.proven === undefined);

/** While something is unproven, every tool is looked at. */
const pendingMarks: readonly string[] = ['after_tool-shell', 'after_tool-read'];

export const pendingReason = (key: SessionKey): string => `sent.${nameOf(key)}`;

/** Where the mark cannot be made, a prompt is the next chance to look. */
export function watchTools({ directory }: Pick<Project, 'directory'>, key: SessionKey): void {
  try {
    createMarks(directory).want(pendingReason(key), pendingMarks);
  } catch {
    // A disk that is full or read-only keeps nobody from being briefed.
  }
}

/** A second copy of a hook is started together with the first. */
const sameMs = 10_000;
const staleMs = 24 * 3_600_000;
const claim = /^once-([a-z_]+)-([0-9a-f]{16})-(\d+)$/;

/** What hooks write into, beside what every command does. */
export const writtenFolders: readonly string[] = ['sessions/hooks', 'sessions/facts'];

/** Below `sessions`: no tree covers it, and git ignores it. */
export const hooksFolder = ({ directory }: Pick<Project, 'directory'>): string =>
  join(directory, 'sessions', 'hooks');

/** A name of fixed form. */
const nameOf = ({ host, session, agent }: SessionKey): string => short([host, session, agent ?? null]);

export function createNotebook(project: Project, key: SessionKey): Notebook {
  const folder = join(hooksFolder(project), nameOf(key));
  const sentFile = join(folder, 'sent.json');
  return {
    get sent() {
      // Only `send` writes it.
      return (readJson(sentFile) ?? readJson(`${sentFile}.old`)) as Sent | undefined;
    },
    send: (sent) => writeWhole(sentFile, JSON.stringify(sent)),
    first,
    handed: createHanded(folder),
    tellOnce(what) {
      try {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `told-${short(what)}`), '', { flag: 'wx' });
        return true;
      } catch {
        // Also where nothing can be written: better once too few than with every stop.
        return false;
      }
    },
    close() {
      for (const file of names(folder))
        if (!file.startsWith('once-')) rmSync(join(folder, file), { force: true });
    },
  };

  /**
   * Copies of one event start together, and a host waits for all of them before its next event of another kind. So a
   * claim holds for some seconds, or until the session claimed something else.
   */
  function first(kind: HookKind, id: string, now: number): boolean {
    const name = short(id);
    const claims = names(folder).flatMap((file) => {
      const [, of, hash, count] = claim.exec(file) ?? [];
      return of === undefined
        ? []
        : [{ file, of, hash, count: Number(count), at: timeOf(join(folder, file)) }];
    });
    const [mine] = claims
      .filter((each) => each.of === kind && each.hash === name)
      .sort((a, b) => b.count - a.count);
    const newest = Math.max(0, ...claims.filter((each) => each.of !== kind).map(({ at }) => at));
    if (mine && mine.at >= newest && now - mine.at < sameMs) return false;
    for (const { file, at } of claims) if (now - at > sameMs) unlinkQuietly(join(folder, file));
    try {
      mkdirSync(folder, { recursive: true });
      // Exclusive: of two copies that come this far, one is first.
      writeFileSync(join(folder, `once-${kind}-${name}-${(mine?.count ?? 0) + 1}`), '', { flag: 'wx' });
      return true;
    } catch (error) {
      return !(error instanceof Error && 'code' in error && error.code === 'EEXIST');
    }
  }
}

/** Notebooks of sessions that nobody has seen for a day. */
export function sweepNotebooks(project: Project, now: number): void {
  const folder = hooksFolder(project);
  for (const name of names(folder).filter((each) => /^[0-9a-f]{16}$/.test(each)))
    if (now - timeOf(join(folder, name)) > staleMs) {
      rmSync(join(folder, name), { recursive: true, force: true });
      createMarks(project.directory).drop(`sent.${name}`);
    }
}
