import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { tailText } from './tail-text.ts';

const headBytes = 256 * 1024;
const lastBytes = 768 * 1024;
const tailBytes = 4096;

export interface OutputLog {
  write(chunk: Buffer): void;
  finish(): { tail: string; digest: string; bytes: number };
}

/**
 * Streams output to a file. The file keeps the first 256 KB and the last 768 KB (up to twice that while it grows); the
 * digest covers everything. A full disk loses the file, not the result.
 */
export function createOutputLog(path: string): OutputLog {
  const hash = createHash('sha256');
  let fd: number | undefined = openSync(path, 'w', 0o600);
  let bytes = 0;
  let size = 0;
  let recent: Buffer[] = [];
  let recentBytes = 0;

  function onDisk(act: (file: number) => void): void {
    if (fd === undefined) return;
    try {
      act(fd);
    } catch {
      close();
    }
  }

  function close(): void {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  }

  /** The last `length` bytes of the output, or all that is kept. */
  const last = (length: number): Buffer => Buffer.concat(recent).subarray(-length);

  function compact(file: number): void {
    const kept = last(Math.min(lastBytes, bytes - headBytes));
    const left = bytes - headBytes - kept.length;
    ftruncateSync(file, headBytes);
    const note = Buffer.from(left > 0 ? `\n[${left} bytes left out]\n` : '');
    writeAll(file, Buffer.concat([note, kept]), headBytes);
    size = headBytes + note.length + kept.length;
  }

  return {
    write(chunk) {
      hash.update(chunk);
      bytes += chunk.length;
      recent.push(chunk);
      recentBytes += chunk.length;
      while (recent[0] && recentBytes - recent[0].length >= lastBytes) {
        recentBytes -= recent[0].length;
        recent = recent.slice(1);
      }
      onDisk((file) => {
        writeAll(file, chunk, size);
        size += chunk.length;
        if (size > headBytes + 2 * lastBytes) compact(file);
      });
    },
    finish() {
      onDisk((file) => {
        if (size > headBytes + lastBytes) compact(file);
      });
      close();
      const window = last(4 * tailBytes);
      const tail = tailText(window, { cut: window.length < bytes, maxBytes: tailBytes });
      return { tail, digest: `sha256:${hash.digest('hex')}`, bytes };
    },
  };
}

function writeAll(file: number, data: Buffer, position: number): void {
  for (let done = 0; done < data.length; ) {
    done += writeSync(file, data, done, data.length - done, position + done);
  }
}
