/** A setup file of vitest: unit tests start no processes. Tests that do are named `*.process.test.ts`. */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const refuse = (): never => {
  throw new Error('A unit test started a process. Name its file *.process.test.ts.');
};

// Not in the types; every asynchronous way to start a process ends in it.
Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse });
for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) childProcess[name] = refuse;
syncBuiltinESMExports();
