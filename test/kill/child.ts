import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Race } from './worker.ts';

/** A worker in a process of its own; every line that it wrote before its death is told. */
export interface Child {
  tell(race: Race): void;
  kill(): void;
  /** After its end and its last line; false where it ended by itself. */
  gone: Promise<boolean>;
}

/** The worker as it would be published: one file, so that a start costs what it costs a user. */
export async function buildWorker(
  directory: string,
  name: 'worker' | 'run-worker' = 'worker',
): Promise<string> {
  const outfile = join(directory, `${name}.mjs`);
  const entry = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  await build({
    absWorkingDir: join(import.meta.dirname, '..', '..'),
    entryPoints: [entry],
    // The other one does not run in a bundle.
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outfile;
}

interface Where {
  cwd?: string;
  env?: Record<string, string>;
}

/** `Line`: what the script writes, a JSON document in each line. */
export function startChild<Line>(
  script: string,
  args: readonly string[],
  told: (line: Line) => void,
  where: Where = {},
): Child {
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    ...where,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('a piped child has its pipes');
  // A killed child no longer reads.
  stdin.on('error', () => {});
  const lines = createInterface({ input: stdout });
  lines.on('line', (line) => {
    const parsed = parse<Line>(line);
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
function parse<Line>(line: string): Line | undefined {
  try {
    // Only the worker writes there.
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}
