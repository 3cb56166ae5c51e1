import { homedir } from 'node:os';

/** The environment of a command, except the file system; tests pass their own. */
export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  /** Whether box drawing and symbols beyond ASCII can be shown. */
  unicode: boolean;
  /** This program's entry file, to start it again in another process. */
  main: string;
  now(): number;
  /** While there is a listener, Ctrl-C does not end the program. Returns a function that removes the listener. */
  onInterrupt(listener: () => void): () => void;
}

export interface Input {
  terminal: boolean;
  /** One line without its line break; undefined at the end of input. */
  line(): Promise<string | undefined>;
  /** One line without echo; undefined if the user pressed Ctrl-C or Ctrl-D. */
  secret(): Promise<string | undefined>;
  /** Everything up to the end. */
  all(): Promise<string>;
}

export interface Output {
  write(text: string): void;
  colour: boolean;
  /** The terminal's width; absent for a pipe or a file, where nothing is truncated. */
  columns?: number | undefined;
  /** Its height. */
  rows?: number | undefined;
}

interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

interface Process {
  stdin?: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Stream;
  stderr: Stream;
  env: Io['env'];
  cwd(): string;
  on?(signal: 'SIGINT', listener: () => void): unknown;
  off?(signal: 'SIGINT', listener: () => void): unknown;
}

export function createIo(source: Process, home: string = homedir(), main = ''): Io {
  return {
    stdin: createInput(source),
    stdout: createOutput(source.stdout, source.env),
    stderr: createOutput(source.stderr, source.env),
    env: source.env,
    cwd: source.cwd(),
    home,
    unicode: hasUnicode(source.env),
    main,
    now: Date.now,
    onInterrupt(listener) {
      source.on?.('SIGINT', listener);
      return () => void source.off?.('SIGINT', listener);
    },
  };
}

/** Opens stdin only on use: opening it takes time and may keep the process alive. */
function createInput(source: Process): Input {
  return {
    get terminal() {
      return source.stdin?.isTTY === true;
    },
    line,
    async secret() {
      const { stdin } = source;
      if (!stdin?.isTTY || !stdin.setRawMode) return await line();
      stdin.setRawMode(true);
      try {
        return await unshownLine(stdin);
      } finally {
        stdin.setRawMode(false);
        stdin.pause();
      }
    },
    async all() {
      let text = '';
      source.stdin?.setEncoding('utf8');
      for await (const chunk of source.stdin ?? []) text += chunk;
      return text;
    },
  };

  async function line(): Promise<string | undefined> {
    if (!source.stdin) return undefined;
    const { createInterface } = await import('node:readline');
    const reader = createInterface({ input: source.stdin });
    const read = await new Promise<string | undefined>((resolve) => {
      reader.once('line', resolve).once('close', () => resolve(undefined));
    });
    reader.close();
    return read;
  }
}

/** Reads keys in raw mode; Ctrl-C and Ctrl-D cancel. */
async function unshownLine(stdin: NodeJS.ReadableStream): Promise<string | undefined> {
  stdin.setEncoding('utf8');
  let text = '';
  return await new Promise((resolve) => {
    const end = (answer: string | undefined): void => {
      stdin.off('data', read).off('end', gone);
      resolve(answer);
    };
    const gone = (): void => end(undefined);
    const read = (chunk: string | Buffer): void => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return end(text);
        if (key === '\u0003' || key === '\u0004') return gone();
        text = key === '\u007f' || key === '\b' ? text.slice(0, -1) : `${text}${key}`;
      }
    };
    stdin.on('data', read).on('end', gone);
    stdin.resume();
  });
}

/** The width for wrapped text: the terminal's, between 40 and 100 columns. */
export const wrapWidth = (output: Output): number => Math.max(40, Math.min(output.columns ?? 100, 100));

function createOutput(stream: Stream, env: Io['env']): Output {
  const tty = stream.isTTY === true;
  const output = { write: (text: string) => void stream.write(text), colour: hasColour(tty, env) };
  if (!tty) return output;
  return {
    ...output,
    // A terminal may be resized.
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
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
