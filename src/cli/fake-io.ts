import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from './io.ts';
import { run } from './run.ts';

/** For tests: a pipe without colours, unless told otherwise. */
export function createFakeIo(
  options: Partial<Omit<Io, 'stdout' | 'stderr'>> & { colour?: boolean; columns?: number } = {},
): {
  io: Io;
  stdout(): string;
  stderr(): string;
} {
  const written = { stdout: '', stderr: '' };
  const { colour = false, columns, ...rest } = options;
  const output = (name: 'stdout' | 'stderr'): Io['stdout'] => ({
    write: (text) => {
      written[name] += text;
    },
    colour,
    columns,
  });
  const io = {
    env: {},
    cwd: '/',
    home: '/nowhere',
    unicode: true,
    ...rest,
    stdout: output('stdout'),
    stderr: output('stderr'),
  };
  return { io, stdout: () => written.stdout, stderr: () => written.stderr };
}

export interface Project {
  root: string;
  run(
    argv: string[],
    options?: Parameters<typeof createFakeIo>[0],
  ): Promise<{ code: number; stdout: string; stderr: string }>;
  [Symbol.dispose](): void;
}

/** For tests: a temporary directory with these files, and the command line run in it. */
export function createProject(files: Record<string, string>): Project {
  const root = mkdtempSync(join(tmpdir(), 'stepfast-cli-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return {
    root,
    run: async (argv, options) => {
      const fake = createFakeIo({ cwd: root, home: join(root, 'home'), ...options });
      const code = await run(argv, fake.io);
      return { code, stdout: fake.stdout(), stderr: fake.stderr() };
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
