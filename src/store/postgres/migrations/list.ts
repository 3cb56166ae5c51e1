import { tables } from './0001-tables.ts';
import { calls } from './0002-calls.ts';
import { months } from './0003-months.ts';
import { tokens } from './0004-tokens.ts';
import { sessions } from './0005-sessions.ts';
import { rows } from './0006-rows.ts';
import { tailEnd } from './0009-tail-end.ts';
import { operations } from './0010-operations.ts';
import { tokenAgents } from './0011-token-agents.ts';
import { growth } from './0012-growth.ts';
import { usage } from './0013-usage.ts';
import { principals } from './0014-principals.ts';
import { jobs } from './0100-jobs.ts';
import type { Migration } from './migration.ts';

/** In the order of their ids. */
export const migrations: readonly Migration[] = [
  tables,
  calls,
  months,
  tokens,
  sessions,
  rows,
  tailEnd,
  operations,
  tokenAgents,
  growth,
  usage,
  principals,
  jobs,
];
