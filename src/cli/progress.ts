import { lasting } from '../messages/index.ts';
import type { Io } from './io.ts';
import { renderLine } from './paint.ts';

const frames = { unicode: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'], ascii: ['-', '\\', '|', '/'] };
const intervalMs = 100;

/** Shows on a terminal what the program waits for, and for how long already; nothing elsewhere. */
export async function withProgress<T>(io: Io, what: string, work: Promise<T>): Promise<T> {
  if (io.stderr.columns === undefined) return await work;
  const symbols = io.unicode ? frames.unicode : frames.ascii;
  const output = { ...io.stderr, columns: io.stderr.columns - 1 };
  const began = io.now();
  let drawn = 0;
  const draw = (): void => {
    const spent = lasting(Math.floor((io.now() - began) / 1000) * 1000).replace('.0', '');
    const sign = symbols[drawn % symbols.length] ?? '';
    drawn += 1;
    io.stderr.write(`\r\u001b[K${renderLine([['cyan', sign], ` ${what} `, ['dim', spent]], output)}`);
  };
  draw();
  const timer = setInterval(draw, intervalMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    io.stderr.write('\r\u001b[K');
  }
}
