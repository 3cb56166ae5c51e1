import type { RunInfo } from '../store.ts';
import type { Query } from './database.ts';
import type { RunPages } from './run-pages.ts';
import { statements } from './statements.ts';

/** Queries for clients without a worktree. */
export interface ProjectSessions {
  /** Records that a session works on a run; idempotent. */
  join(session: string, run: string, now: number): Promise<void>;
  /** The runs of a session, last joined first. */
  runsOf(session: string, limit: number): Promise<RunInfo[]>;
}

export function createProjectSessions(query: Query, pages: RunPages, project: number): ProjectSessions {
  return {
    async join(session, run, now) {
      // No session id contains NUL, and a text column cannot store it.
      if (!session.includes('\0')) await query(statements.joinSession, [project, run, session, now]);
    },
    async runsOf(session, limit) {
      if (session.includes('\0')) return [];
      const rows = await query(statements.sessionRuns, [project, session, limit]);
      return await pages.infos(query, project, rows);
    },
  };
}
