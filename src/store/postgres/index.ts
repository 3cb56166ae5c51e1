export type { DatabaseOptions } from './database.ts';
export { type Migrated, migrate } from './migrate.ts';
export type { PageRequest, RunPage } from './page.ts';
export { createPostgres, type Postgres, type TokenRecord } from './postgres.ts';
export { createProjects, type ProjectRecord, type Projects } from './projects.ts';
export { dropMonths } from './retention.ts';
export type { Tail, TailRow } from './tail.ts';
export { createTokens, type NewToken, type TokenInfo, type Tokens, tokenHash } from './tokens.ts';
export type { Wake, WakeListener } from './wake.ts';
