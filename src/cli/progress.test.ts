import { expect, test } from 'vitest';
import { createFakeIo } from '../testing/fake-io.ts';
import { printWrapped } from './paint.ts';
import { withProgress } from './progress.ts';

test('[U19] a terminal shows what the program waits for, and clears it; a pipe shows nothing', async () => {
  const terminal = createFakeIo({ terminal: true });
  expect(await withProgress(terminal.io, 'trying Claude Code', Promise.resolve(1))).toBe(1);
  expect(terminal.stderr()).toContain('trying Claude Code');
  expect(terminal.stderr().endsWith('\r\u001b[K')).toBe(true);
  const pipe = createFakeIo();
  await withProgress(pipe.io, 'trying Claude Code', Promise.resolve(1));
  expect(pipe.stderr()).toBe('');
});

test('[U19] on a terminal sentences are wrapped at spaces, in color too', () => {
  const fake = createFakeIo({ terminal: true, columns: 40 });
  const text = 'Results are marked \u001b[1munverified\u001b[22m until a test command is in the workflow go.';
  printWrapped(text, fake.io.stdout);
  const lines = fake.stdout().trimEnd().split('\n');
  expect(lines.join(' ')).toBe(text);
  expect(lines).toHaveLength(2);
  const pipe = createFakeIo();
  printWrapped(text, pipe.io.stdout);
  expect(pipe.stdout()).toBe(`${text}\n`);
});
