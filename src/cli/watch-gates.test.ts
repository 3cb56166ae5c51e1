import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeIo } from '../testing/fake-io.ts';
import { createGateWatch, Detached, lastLine } from './watch-gates.ts';

function withLogs(files: Record<string, string>, look: (logs: string) => void): void {
  const logs = mkdtempSync(join(tmpdir(), 'stepfast-logs-'));
  let age = 0;
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(logs, name), text);
    age += 10;
    utimesSync(join(logs, name), 1_000_000 + age, 1_000_000 + age);
  }
  look(logs);
  rmSync(logs, { recursive: true });
}

test('the last line is that of the gate that wrote last, as it was drawn last, without colours', () => {
  withLogs(
    { 'gate-1.log': 'old\n', 'gate-2.log': 'one\n\u001b[32m 5%\r\u001b[32m50%\u001b[39m\r\n\n' },
    (logs) => {
      expect(lastLine(logs)).toBe('50%');
    },
  );
  expect(lastLine('/nowhere/at/all')).toBe('');
});

test('a terminal gets one line that is drawn over itself and cleared at the end', () => {
  withLogs({ 'gate-1.log': 'running tests\n' }, (logs) => {
    const fake = createFakeIo({ terminal: true, columns: 40 });
    const watch = createGateWatch(fake.io);
    watch.onProgress({ run: 'r', id: 'i', logs });
    watch.onProgress({ run: 'r', id: 'i', logs });
    watch.end();
    expect(fake.stderr()).toBe(
      '\r\u001b[K⠋ running gates 0 s  running tests\r\u001b[K⠙ running gates 0 s  running tests\r\u001b[K',
    );
    expect(fake.stdout()).toBe('');
  });
});

test('a pipe gets nothing', () => {
  const fake = createFakeIo();
  const watch = createGateWatch(fake.io, { detach: true });
  watch.onProgress({ run: 'r', id: 'i', logs: '/nowhere' });
  watch.end();
  expect(fake.stderr()).toBe('');
});

test('Ctrl-C leaves, and is listened to only while the gates run', () => {
  const listeners = new Set<() => void>();
  const { io } = createFakeIo({
    terminal: true,
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const watch = createGateWatch(io, { detach: true });
  const progress = { run: 'r', id: 'i', logs: '/nowhere' };
  watch.onProgress(progress);
  for (const listener of listeners) listener();
  expect(() => watch.onProgress(progress)).toThrow(Detached);
  watch.end();
  expect(listeners.size).toBe(0);
});
