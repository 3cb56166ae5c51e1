import type { Engine, RunsAnswer } from '../engine/index.ts';
import type { PageSource } from '../runtime/index.ts';
import type { Scope } from '../schema/index.ts';
import type { PageRequest, Postgres } from '../store/postgres/index.ts';

/** A token without its secret, which is stored nowhere. */
export type TokenRecord = Omit<NonNullable<Awaited<ReturnType<Postgres['findToken']>>>, 'scopes'> & {
  scopes: readonly Scope[];
};

/** The storage of all projects behind the HTTP server. Data of one project never includes data of another. */
export interface Backend
  extends Pick<
    Postgres,
    | 'sessions'
    | 'publications'
    | 'people'
    | 'tail'
    | 'onWake'
    | 'projectNamed'
    | 'makeToken'
    | 'useToken'
    | 'audit'
    | 'ready'
    | 'close'
  > {
  engine(project: number): Engine;
  /** Newest first. */
  list(project: number, request: PageRequest): Promise<RunsAnswer>;
  pages(project: number): PageSource;
  /** Finds a token by its SHA-256 in hex; revoked tokens are not found. */
  findToken(hash: string): Promise<TokenRecord | undefined>;
  /** How far the tail is, if transactions can hold it back. */
  tailEnd?: Postgres['tailEnd'];
  /** Connections, if there is a pool. */
  pool?(): { total: number; idle: number; waiting: number };
}
