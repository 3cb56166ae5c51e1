import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { watchFile } from './watch-file.ts';

const hourMs = 3_600_000;
let file: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-watch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  file = join(folder, 'journal');
});

const watched = (path = file) => {
  const reports = watchFile(path);
  onTestFinished(() => reports.close());
  return reports;
};
const woken = async (waiting: Promise<void>): Promise<void> => expect(await waiting).toBeUndefined();

test.each([
  ['created', () => rmSync(file), () => writeFileSync(file, 'one')],
  ['extended', () => {}, () => appendFileSync(file, 'two')],
  ['replaced', () => writeFileSync(`${file}.tmp`, 'two'), () => renameSync(`${file}.tmp`, file)],
  ['removed', () => {}, () => rmSync(file)],
])('a %s file ends the wait', async (_, prepare, change) => {
  writeFileSync(file, 'one');
  prepare();
  const waiting = watched().next(hourMs);
  change();
  await woken(waiting);
});

test('a change before the wait ends it', async () => {
  const [first, second] = [watched(), watched()];
  writeFileSync(file, 'one');
  await woken(first.next(hourMs));
  await woken(second.next(hourMs));
});

test('a change of another file does not end the wait', async () => {
  let isOver = false;
  const other = `${file}-2`;
  const [reports, ofOther] = [watched(), watched(other)];
  const waiting = reports.next(hourMs).then(() => {
    isOver = true;
  });
  writeFileSync(other, '');
  await ofOther.next(hourMs);
  expect(isOver).toBe(false);
  writeFileSync(file, '');
  await woken(waiting);
});

test('an abort before or during the wait ends it', async () => {
  const stop = new AbortController();
  const reports = watched();
  const waiting = reports.next(hourMs, stop.signal);
  stop.abort();
  await woken(waiting);
  await woken(reports.next(hourMs, stop.signal));
});

test('without a folder only the time ends the wait', async () => {
  const reports = watched(join(file, 'none'));
  expect(reports.works).toBe(false);
  await woken(reports.next(1));
});
