import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Job, Line, Race } from './worker.ts';

/** A worker in a process of its own; every line that it wrote before its death is told. */
export interface Child {
  tell(race: Race): void;
  kill(): void;
  /** After its end and its last line; false where it ended by itself. */
  gone: Promise<boolean>;
}

/** The worker as it would be published: one file, so that a start costs what it costs a user. */
export async function buildWorker(directory: string): Promise<string> {
  const outfile = join(directory, 'worker.mjs');
  const entry = fileURLToPath(new URL('./worker.ts', import.meta.url));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outfile;
}

export function startChild(script: string, job: Job, told: (line: Line) => void): Child {
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(job)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('a piped child has its pipes');
  // A killed child no longer reads.
  stdin.on('error', () => {});
  const lines = createInterface({ input: stdout });
  lines.on('line', (line) => {
    const parsed = parse(line);
    if (parsed) told(parsed);
  });
  const gone = Promise.all([once(child, 'close'), once(lines, 'close')]).then(
    () => child.signalCode === 'SIGKILL',
  );
  return {
    tell: (race) => stdin.write(`${JSON.stringify(race)}\n`),
    kill: () => child.kill('SIGKILL'),
    gone,
  };
}

/** A line that the kill cut was not told. */
function parse(line: string): Line | undefined {
  try {
    // Only the worker writes there.
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}
