import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from '../../src/cli/io.ts';
import { run } from '../../src/cli/run.ts';

type FakeOptions = Partial<Omit<Io, 'stdin' | 'stdout' | 'stderr'>> & {
  colour?: boolean;
  columns?: number;
  /** What comes in, line by line; `terminal` makes it the keyboard of a person. */
  input?: readonly string[];
  terminal?: boolean;
};

/** For tests: a pipe without colours, unless told otherwise. */
export function createFakeIo(options: FakeOptions = {}): {
  io: Io;
  stdout(): string;
  stderr(): string;
} {
  const written = { stdout: '', stderr: '' };
  const { colour = false, terminal = false, input = [], ...rest } = options;
  const { columns = terminal ? 100 : undefined, ...parts } = rest;
  const lines = [...input];
  const output = (name: 'stdout' | 'stderr'): Io['stdout'] => ({
    write: (text) => {
      written[name] += text;
    },
    colour,
    columns,
  });
  const io: Io = {
    env: {},
    cwd: '/',
    home: '/nowhere',
    unicode: true,
    main: join(import.meta.dirname, '../../src/cli/main.ts'),
    now: Date.now,
    onInterrupt: () => () => {},
    ...parts,
    stdin: {
      terminal,
      line: async () => lines.shift(),
      secret: async () => lines.shift(),
      all: async () => lines.splice(0).join('\n'),
    },
    stdout: output('stdout'),
    stderr: output('stderr'),
  };
  return { io, stdout: () => written.stdout, stderr: () => written.stderr };
}

export interface Project {
  root: string;
  run(argv: string[], options?: FakeOptions): Promise<{ code: number; stdout: string; stderr: string }>;
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
