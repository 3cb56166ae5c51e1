import type { Io } from '../cli/index.ts';
import { cliProgram } from './programs.ts';

export interface FakeIoOptions {
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  home?: string;
  unicode?: boolean;
  /** The program's entry file. */
  main?: string;
  now?(): number;
  onInterrupt?(listener: () => void): () => void;
  colour?: boolean;
  columns?: number;
  /** The lines of standard input. */
  input?: readonly string[];
  /** A terminal instead of pipes, as for a person. */
  terminal?: boolean;
}

export interface FakeIo {
  io: Io;
  stdout(): string;
  stderr(): string;
}

/** Input and output of a command, in memory; without colours by default. */
export function createFakeIo(options: FakeIoOptions = {}): FakeIo {
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
    main: cliProgram,
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
