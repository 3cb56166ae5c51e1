import type { Definition } from '../../machine/index.ts';
import type { RunInfo } from '../store.ts';
import type { Query } from './database.ts';
import type { RunPages } from './run-pages.ts';
import { statements } from './statements.ts';

/** What is asked by those who have no tree. */
export interface ProjectSessions {
  /** Remembers that a session takes part in a run; a second time changes nothing. */
  join(session: string, run: string, now: number): Promise<void>;
  /** The runs of a session, the one that it joined last first. */
  runsOf(session: string, limit: number): Promise<RunInfo[]>;
  /** The definitions that runs have pinned last, one a name; only that of the name where one is given. */
  definitions(limit: number, name?: string): Promise<Definition[]>;
}

export function createProjectSessions(query: Query, pages: RunPages, project: number): ProjectSessions {
  return {
    async join(session, run, now) {
      // Such a name can be nobody's who asks for it.
      if (!session.includes('\0')) await query(statements.joinSession, [project, run, session, now]);
    },
    async runsOf(session, limit) {
      if (session.includes('\0')) return [];
      const rows = await query(statements.sessionRuns, [project, session, limit]);
      return await pages.infos(query, project, rows);
    },
    async definitions(limit, name) {
      if (name?.includes('\0')) return [];
      const rows = await query(statements.usedDefinitions, [project, name ?? null, limit]);
      return rows.map(([body]) => JSON.parse(String(body)));
    },
  };
}
