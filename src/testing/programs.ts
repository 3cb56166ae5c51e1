import { join } from 'node:path';

/** Programs are always the built ones: they are what users get, and they start much faster. */
const built = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../../dist' : '.');

/** The `stepfast` command. */
export const cliProgram = join(built, 'cli.js');

/** Runs inside a host's network namespace. */
export const bridgeProgram = join(built, 'testing-bridge.js');
