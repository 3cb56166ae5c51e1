export type { DatabaseOptions } from './database.ts';
export { type Migrated, migrate } from './migrate.ts';
export type { PageRequest, RunPage } from './run-pages.ts';
export { createPostgres, type Postgres, type TokenRecord } from './postgres.ts';
export { createProjects, type ProjectRecord, type Projects } from './projects.ts';
export { dropMonths } from './drop-months.ts';
export type { Tail, TailRow } from './read-tail.ts';
export { createTokens, type NewToken, type TokenInfo, type Tokens, tokenHash } from './tokens.ts';
export type { Wake, WakeListener } from './wake-channel.ts';
