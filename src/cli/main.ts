#!/usr/bin/env node
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createIo } from './io.ts';
import { run } from './run.ts';

// The reader of a pipe may close it early, as `head` does: not a failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
}

// Not process.exit: what is still on its way into a pipe would be lost.
const io = createIo(process, homedir(), fileURLToPath(import.meta.url));
process.exitCode = await run(process.argv.slice(2), io);
