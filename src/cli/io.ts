import { homedir } from 'node:os';

/** What a command sees of the world beside the file system; tests pass their own. */
export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  /** Whether box drawing and signs beyond ASCII can be shown. */
  unicode: boolean;
  /** The file that starts this program again, for what runs in a process of its own. */
  main: string;
  now(): number;
  /** While somebody listens, Ctrl-C no longer ends the program; answers how to stop listening. */
  onInterrupt(listener: () => void): () => void;
}

export interface Input {
  terminal: boolean;
  /** One line without its end; undefined where the input has ended. */
  line(): Promise<string | undefined>;
  /** One line that a terminal does not show; undefined where it was given up. */
  secret(): Promise<string | undefined>;
  /** Everything up to the end. */
  all(): Promise<string>;
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

/** Looks at the stream only when it is asked: opening it costs time and may hold the program. */
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

/** Key by key, as a terminal sends it that does nothing with them: Ctrl-C and Ctrl-D give up. */
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
