import { readSync } from 'node:fs';

/** A tool's answer may be long; what is longer than this is no hook's input. */
export const maxInput = 16 * 1024 * 1024;

/** Everything on stdin, at once: streams cost more than the rest of a hook. Throws where there is too much. */
export function readInput(file = 0): string {
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let size = 0; ; ) {
    const length = readSome(file, chunk);
    if (length === 0) return Buffer.concat(chunks).toString('utf8');
    size += length;
    if (size > maxInput) throw new Error(`the input has more than ${maxInput} bytes`);
    chunks.push(Buffer.from(chunk.subarray(0, length)));
  }
}

const patienceMs = 10_000;
const pauseMs = 2;

function readSome(file: number, chunk: Buffer): number {
  for (let waited = 0; waited < patienceMs; waited += pauseMs) {
    try {
      return readSync(file, chunk);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
  throw new Error('the input did not come');
}
