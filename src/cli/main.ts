#!/usr/bin/env node
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findCommandName, useCommandName } from '../command-name.ts';
import { createIo } from './io.ts';
import { run } from './run.ts';

// The reader of a pipe may close it early, as `head` does: not a failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
}

// The built program is dist/cli.js, which loads this file compiled.
const main = fileURLToPath(import.meta.url).replace(/main\.js$/, 'cli.js');
useCommandName(() => findCommandName({ main, env: process.env }));
const io = createIo(process, homedir(), main);
// Not process.exit, which would lose output that a pipe hasn't taken yet.
process.exitCode = await run(process.argv.slice(2), io);
