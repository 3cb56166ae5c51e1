import { homedir } from 'node:os';

/** What a command sees of the world beside the file system; tests pass their own. */
export interface Io {
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  /** Whether box drawing and signs beyond ASCII can be shown. */
  unicode: boolean;
}

export interface Output {
  write(text: string): void;
  colour: boolean;
  /** The terminal's width; absent when the output is a pipe or a file, where nothing is cut. */
  columns?: number | undefined;
}

interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

interface Process {
  stdout: Stream;
  stderr: Stream;
  env: Io['env'];
  cwd(): string;
}

export function createIo(source: Process, home: string = homedir()): Io {
  return {
    stdout: createOutput(source.stdout, source.env),
    stderr: createOutput(source.stderr, source.env),
    env: source.env,
    cwd: source.cwd(),
    home,
    unicode: hasUnicode(source.env),
  };
}

/** The width that flowing text is wrapped to: the terminal's, but never an unreadable line. */
export const wrapWidth = (output: Output): number => Math.max(40, Math.min(output.columns ?? 100, 100));

function createOutput(stream: Stream, env: Io['env']): Output {
  const tty = stream.isTTY === true;
  return {
    write: (text) => void stream.write(text),
    colour: hasColour(tty, env),
    ...(tty && { columns: stream.columns || 80 }),
  };
}

/** FORCE_COLOR wins over NO_COLOR, as in Node itself. */
function hasColour(tty: boolean, env: Io['env']): boolean {
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return tty && !env.NO_COLOR && env.TERM !== 'dumb';
}

function hasUnicode(env: Io['env']): boolean {
  if (env.TERM === 'dumb') return false;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return !/^(C|POSIX)$|\.(iso-?8859|latin|ascii|us-ascii|koi8)/i.test(locale);
}
