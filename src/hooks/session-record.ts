import { existsSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArtifactVersion, HookKind, SessionKey, Source } from '../runtime/index.ts';
import { createMarks, type Project } from '../workspace/index.ts';
import { endOf, names, readJson, short, timeOf, unlinkQuietly, writeWhole } from './session-files.ts';
import { openSubagentPrompts, type SubagentPrompts } from './subagent-prompts.ts';

/** The last briefing that was injected into a session, or is due. */
export interface Delivery {
  run: string;
  /** How the context began for which it is. */
  source: Source | 'subagent';
  /** Absent: a compaction began, and nothing was injected since. */
  id?: string;
  text?: string;
  /** The position that it describes. */
  at?: string;
  tries: number;
  /** How often the transcript was searched without a result. */
  looked?: number;
  /** The session was only offered the run: the person or a call of the agent takes it up. */
  offered?: true;
  /** How its arrival was proven; `none`: it was not, and is not tried again. */
  proven?: 'transcript' | 'handle' | 'none';
  /** When the compaction began, or the text was injected, by this machine's clock. */
  since?: number;
  /** Compiled before a compaction, for the session start after it. */
  prepared?: PreparedBriefing;
  /** When the context was reset, while the run's server did not answer: the run does not know of that yet. */
  unreportedReset?: number;
}

/** A briefing for the session start after a compaction, compiled before it on the state after the reset. */
export interface PreparedBriefing {
  id: string;
  text: string;
  at?: string;
  /** When it was compiled, by this machine's clock. */
  compiledAt: number;
  /** The run's version that it is based on, and how often the session had been reset then. */
  seq: number;
  resets: number;
  worktree: string;
  /** The files that it describes, as they were. */
  files: [file: string, fingerprint: string][];
  /** The critical artifacts that it includes. */
  loads: ArtifactVersion[];
}

/** What hooks store about one session, in a folder of its own. What cannot be written is lost without an error. */
export interface SessionRecord {
  /** undefined: no hook saw this session start. */
  readonly delivery: Delivery | undefined;
  setDelivery(delivery: Delivery): void;
  /** Whether this is the first copy of the event; `id` distinguishes it from others of its kind, `unique` from all. */
  first(kind: HookKind, id: string, now: number, unique?: boolean): boolean;
  /** The next event of this kind is no copy, however much it looks like the last one. */
  expectAnother(kind: HookKind): void;
  readonly subagentPrompts: SubagentPrompts;
  /** Between a prompt and the end of its turn. */
  inTurn: boolean;
  /** A check whose result the hook of the stop did not wait for. */
  leaveToWake(check: string): void;
  /** The checks that were left and not taken. */
  readonly leftToWake: readonly string[];
  /** True for one caller: the result of that check is its to deliver. */
  takeFromWake(check: string): boolean;
  /** Whether the person, or the agent, was not notified of this before. */
  notifyOnce(what: string): boolean;
  /** It may be notified of this again. */
  forgetNotice(what: string): void;
  /** The session ended. What detects copies of its last event stays. */
  close(): void;
}

/** The session received a whole briefing, or one is due. False for a session that was only notified of runs. */
export const wasBriefed = (delivery: Delivery | undefined): delivery is Delivery =>
  delivery !== undefined && (delivery.id !== undefined || delivery.proven === undefined);

/** While a delivery is unproven, hooks also run after these tools. */
const pendingMarks: readonly string[] = ['after_tool-shell', 'after_tool-read'];

export const pendingReason = (key: SessionKey): string => `sent.${nameOf(key)}`;

/** Where the mark cannot be created, the next prompt is checked instead. */
export function watchTools({ directory }: Pick<Project, 'directory'>, key: SessionKey): void {
  try {
    createMarks(directory).want(pendingReason(key), pendingMarks);
  } catch {
    // A full or read-only disk must not prevent a briefing.
  }
}

/** Copies of a hook are started together. */
const sameMs = 10_000;
const staleMs = 24 * 3_600_000;
const claim = /^once-([a-z_]+)-([0-9a-f]{16})-(\d+)$/;

/** The folders that hooks write to, in addition to those of every command. */
export const writtenFolders: readonly string[] = ['sessions/hooks', 'sessions/server-runs'];

/** Below `sessions`, which git and the hash of the tree ignore. */
export const hooksFolder = ({ directory }: Pick<Project, 'directory'>): string =>
  join(directory, 'sessions', 'hooks');

const nameOf = ({ host, session, agent }: SessionKey): string => short([host, session, agent ?? null]);

export function openSessionRecord(project: Project, key: SessionKey): SessionRecord {
  const folder = join(hooksFolder(project), nameOf(key));
  const deliveryFile = join(folder, 'delivery.json');
  return {
    get delivery() {
      // Only `setDelivery` writes it.
      return (readJson(deliveryFile) ?? readJson(`${deliveryFile}.old`)) as Delivery | undefined;
    },
    setDelivery: (delivery) => writeWhole(deliveryFile, JSON.stringify(delivery)),
    first,
    expectAnother(kind) {
      for (const name of names(folder)) if (claim.exec(name)?.[1] === kind) unlinkQuietly(join(folder, name));
    },
    subagentPrompts: openSubagentPrompts(folder),
    get inTurn() {
      return existsSync(join(folder, 'turn'));
    },
    set inTurn(open) {
      if (open) create('turn');
      else unlinkQuietly(join(folder, 'turn'));
    },
    leaveToWake: (check) => create(`wake-${short(check)}`, check),
    get leftToWake() {
      return names(folder)
        .filter((name) => name.startsWith('wake-'))
        .flatMap((name) => endOf(join(folder, name)) ?? []);
    },
    takeFromWake(check) {
      try {
        unlinkSync(join(folder, `wake-${short(check)}`));
        return true;
      } catch {
        return false;
      }
    },
    notifyOnce(what) {
      try {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `notified-${short(what)}`), '', { flag: 'wx' });
        return true;
      } catch {
        // Also where nothing can be written: a missing notice is better than one at every stop.
        return false;
      }
    },
    forgetNotice: (what) => unlinkQuietly(join(folder, `notified-${short(what)}`)),
    close() {
      for (const file of names(folder))
        if (!file.startsWith('once-')) rmSync(join(folder, file), { force: true });
    },
  };

  function create(name: string, content = ''): void {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), content);
    } catch {
      // The session is then not woken.
    }
  }

  /**
   * Copies of an event start together, and a host waits for all of them before its next event of another kind. So a
   * claim is valid for some seconds, or until the session claims another event, unless ids are unique.
   */
  function first(kind: HookKind, id: string, now: number, unique = false): boolean {
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
    // The host does not wait for hooks that may wake the session: they say nothing about the order of events.
    const others = kind === 'wake' ? [] : claims.filter(({ of }) => of !== kind && of !== 'wake');
    const newest = Math.max(0, ...others.map(({ at }) => at));
    if (mine && (unique || (mine.at >= newest && now - mine.at < sameMs))) return false;
    for (const { file, at } of claims) if (now - at > sameMs) unlinkQuietly(join(folder, file));
    try {
      mkdirSync(folder, { recursive: true });
      // Exclusive: only one of two concurrent copies creates it.
      writeFileSync(join(folder, `once-${kind}-${name}-${(mine?.count ?? 0) + 1}`), '', { flag: 'wx' });
      return true;
    } catch (error) {
      return !(error instanceof Error && 'code' in error && error.code === 'EEXIST');
    }
  }
}

/** Removes the records of sessions without an event for a day. */
export function removeStaleRecords(project: Project, now: number): void {
  const folder = hooksFolder(project);
  for (const name of names(folder).filter((each) => /^[0-9a-f]{16}$/.test(each)))
    if (now - timeOf(join(folder, name)) > staleMs) {
      rmSync(join(folder, name), { recursive: true, force: true });
      createMarks(project.directory).drop(`sent.${name}`);
    }
}
