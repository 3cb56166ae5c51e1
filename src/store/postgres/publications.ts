import type { Definition } from '../../machine/index.ts';
import type { Query } from './database.ts';
import { statements } from './statements.ts';

export interface Publication {
  definition: Definition;
  /** Of the definition. */
  hash: string;
  /** Of everything in it but prose. */
  digest: string;
  by: string;
}

/** The workflows that persons published in a project. */
export interface Publications {
  /** Published again, it is the newest of its name. */
  publish(publication: Publication): Promise<void>;
  /** The newest of each name, or of the given name. */
  newest(limit: number, name?: string): Promise<Definition[]>;
  /** Whether the project lets a workflow with this digest start. */
  mayStart(digest: string): Promise<boolean>;
}

export function createPublications(query: Query, project: number): Publications {
  return {
    async publish({ definition, hash, digest, by }) {
      const body = JSON.stringify(definition);
      await query(statements.publish, [
        project,
        definition.name,
        digest,
        hash,
        body,
        by.replaceAll('\0', ''),
      ]);
    },
    async newest(limit, name) {
      if (name?.includes('\0')) return [];
      const rows = await query(statements.publications, [project, name ?? null, limit]);
      return rows.map(([body]) => JSON.parse(String(body)));
    },
    async mayStart(digest) {
      const [[may] = []] = await query(statements.mayStart, [project, digest]);
      return may === true;
    },
  };
}
