import { setTimeout as sleep } from 'node:timers/promises';
import { graphemes, printable, wrap } from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { paint, renderLine, type Span } from '../paint.ts';

/** Prints a story line by line, with pauses only on a terminal. */
export interface Narrator {
  title(name: string, about: string): Promise<void>;
  scene(number: number, title: string): Promise<void>;
  /** Prints speech letter by letter. */
  says(who: 'agent' | 'you', words: string): Promise<void>;
  does(who: 'agent' | 'you' | 'host', what: string): Promise<void>;
  /** Prints the literal response of Stepfast. */
  answers(lines: readonly (readonly Span[])[]): Promise<void>;
  /** Prints a comment for the reader. */
  remarks(text: string): Promise<void>;
  plain(lines: readonly string[]): void;
  /** Does nothing unless stdout is a terminal. */
  pause(ms: number): Promise<void>;
}

/** Thrown after Ctrl-C. */
export class Interrupted extends Error {}

const label = 10;
const letterMs = 12;

export function createNarrator(io: Io, { fast, signal }: { fast: boolean; signal: AbortSignal }): Narrator {
  const { stdout } = io;
  const paced = !fast && stdout.columns !== undefined;
  const width = Math.min(stdout.columns ?? 80, 88) - 4 - label;
  const quote = (words: string): string => (io.unicode ? `“${words}”` : `"${words}"`);
  const bar = io.unicode ? '│' : '|';
  const line = (...spans: Span[]): void =>
    stdout.write(`${renderLine(spans, stdout, io.unicode ? '…' : '...')}\n`);
  const looks = { agent: 'yellow', you: 'magenta', host: 'blue', stepfast: 'cyan' } as const;

  return { title, scene, says, does, answers, remarks, plain, pause };

  async function pause(ms: number): Promise<void> {
    if (signal.aborted) throw new Interrupted();
    if (!paced) return;
    await sleep(ms, undefined, { signal }).catch(() => {
      throw new Interrupted();
    });
  }

  async function title(name: string, about: string): Promise<void> {
    stdout.write('\n');
    line('  ', [['bold'], name]);
    for (const each of wrap(about, width + label)) line('  ', ['dim', each]);
    await pause(1000);
  }

  async function scene(number: number, text: string): Promise<void> {
    stdout.write('\n');
    line('  ', [['bold', 'cyan'], String(number)], '  ', ['bold', text]);
    stdout.write('\n');
    await pause(500);
  }

  async function says(who: 'agent' | 'you', words: string): Promise<void> {
    const lines = wrap(quote(printable(words)), width);
    for (const [index, each] of lines.entries()) {
      stdout.write(`  ${paint(stdout, looks[who], (index === 0 ? who : '').padEnd(label))}`);
      await typeOut(each);
      stdout.write('\n');
    }
    await pause(350);
  }

  async function typeOut(text: string): Promise<void> {
    if (!paced) return stdout.write(text);
    for (const letter of graphemes(text)) {
      stdout.write(letter);
      await pause(letterMs);
    }
  }

  async function does(who: 'agent' | 'you' | 'host', what: string): Promise<void> {
    line('  ', [looks[who], who.padEnd(label)], ['dim', what]);
    await pause(400);
  }

  async function answers(lines: readonly (readonly Span[])[]): Promise<void> {
    for (const [index, spans] of lines.entries()) {
      line(
        '  ',
        [looks.stepfast, (index === 0 ? 'stepfast' : '').padEnd(label)],
        ['cyan', `${bar} `],
        ...spans,
      );
      await pause(150);
    }
    await pause(650);
  }

  async function remarks(text: string): Promise<void> {
    for (const each of wrap(text, width)) line(' '.repeat(label + 2), [['dim', 'italic'], each]);
    await pause(700);
  }

  function plain(lines: readonly string[]): void {
    for (const each of lines) stdout.write(each === '' ? '\n' : `  ${each}\n`);
  }
}
