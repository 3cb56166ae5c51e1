import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lasting, printable } from '../messages/index.ts';
import type { GateProgress } from '../workspace/index.ts';
import type { Io } from './io.ts';
import { renderLine } from './paint.ts';

/** Ctrl-C stops watching; the gates keep running. */
export class Detached extends Error {}

export interface GateWatch {
  /** With `detach`, throws Detached after Ctrl-C. */
  onProgress(progress: GateProgress): void;
  /** Clears the line. Must be called. */
  end(): void;
}

const frames = { unicode: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'], ascii: ['-', '\\', '|', '/'] };
const tailBytes = 2048;

/** A progress line on a terminal; nothing elsewhere. */
export function createGateWatch(io: Io, { detach = false } = {}): GateWatch {
  if (io.stderr.columns === undefined) return { onProgress() {}, end() {} };
  const symbols = io.unicode ? frames.unicode : frames.ascii;
  const began = io.now();
  let drawn = 0;
  let left = false;
  const stop = detach
    ? io.onInterrupt(() => {
        left = true;
      })
    : undefined;
  return {
    onProgress({ logs }) {
      if (left) throw new Detached();
      const sign = symbols[drawn % symbols.length] ?? '';
      drawn += 1;
      const output = { ...io.stderr, columns: (io.stderr.columns ?? 80) - 1 };
      const spent = lasting(Math.floor((io.now() - began) / 1000) * 1000).replace('.0', '');
      const line = renderLine([['cyan', sign], ` running gates ${spent}  `, ['dim', lastLine(logs)]], output);
      io.stderr.write(`\r\u001b[K${line}`);
    },
    end() {
      stop?.();
      if (drawn > 0) io.stderr.write('\r\u001b[K');
    },
  };
}

/** The last line that the running gate has written. */
export function lastLine(directory: string): string {
  try {
    const logs = readdirSync(directory)
      .filter((name) => name.endsWith('.log'))
      .map((name) => join(directory, name))
      .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
    const text = logs[0] === undefined ? '' : endOf(logs[0]);
    // Of a line that a program redraws, the last version counts.
    const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
    return printable(withoutEscapes(lines.at(-1) ?? '')).trim();
  } catch {
    return '';
  }
}

function endOf(file: string): string {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(size, tailBytes));
    readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } finally {
    closeSync(fd);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const withoutEscapes = (text: string): string => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
