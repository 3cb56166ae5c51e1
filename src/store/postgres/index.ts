export type { DatabaseOptions } from './database.ts';
export { dropMonths } from './drop-months.ts';
export { type MigrationResult, migrate } from './migrate.ts';
export { createPostgres, type Postgres, type TokenRecord } from './postgres.ts';
export { createProjects, type ProjectRecord, type Projects } from './projects.ts';
export type { TailPage, TailRow } from './read-tail.ts';
export type { PageRequest, RunPage } from './run-pages.ts';
export { createTokens, type NewToken, type TokenInfo, type Tokens, tokenHash } from './tokens.ts';
export type { Wake, WakeListener } from './wake-channel.ts';
