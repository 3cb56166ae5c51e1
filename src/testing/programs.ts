import { join } from 'node:path';

const isSource = import.meta.filename.endsWith('.ts');

const program = (source: string, bundle: string): string =>
  join(import.meta.dirname, isSource ? source : bundle);

/** The `stepfast` command: its sources in a checkout, the bundle in the package. The bundle starts much faster. */
export const cliProgram = process.env.STEPFAST_TEST_CLI ?? program('../cli/main.ts', 'cli.js');

/** Runs inside a host's network namespace. */
export const bridgeProgram = program('claude/bridge.ts', 'testing-bridge.js');
