import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { redactQuickly } from '../../context/index.ts';
import type { LogRequest } from './page-source.ts';
import type { LogPage } from './pages.ts';

const maxLogBytes = 256 * 1024;

/** Whole lines, so that no secret and no character is cut in two. */
export async function readLog(folder: string, { gate, from }: LogRequest, isLive: boolean): Promise<LogPage> {
  const file = await open(join(folder, `gate-${gate + 1}.log`)).catch(() => undefined);
  if (!file) return { text: '', from, to: from, size: 0, isLive };
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxLogBytes, size - from)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    const isLast = from + bytesRead >= size && !isLive;
    const line = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    // A line that is longer than all that is read at once is cut.
    const length = isLast || (line === 0 && bytesRead === maxLogBytes) ? bytesRead : line;
    const text = redactQuickly(buffer.toString('utf8', 0, length));
    return { text, from, to: from + length, size, isLive };
  } finally {
    await file.close();
  }
}
