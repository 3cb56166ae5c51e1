import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runHookCommand } from './run-hook-command.ts';

const call = { cwd: tmpdir(), env: process.env, timeoutMs: 60_000 };
/** More than a pipe takes. */
const payload = { text: 'x'.repeat(1_000_000) };

test('a hook that ends without reading has done its work', () => {
  expect(runHookCommand('exit 0', { ...call, payload })).toEqual({ status: 0, stderr: '' });
  expect(runHookCommand('echo no >&2; exit 2', { ...call, payload })).toEqual({ status: 2, stderr: 'no' });
});

test('a hook that cannot be run, or does not end, has a problem', () => {
  const gone = runHookCommand('exit 0', { ...call, payload, cwd: '/nowhere' });
  expect(gone.problem).toContain('ENOENT');
  const endless = runHookCommand('exec sleep 600', { ...call, payload: {}, timeoutMs: 50 });
  expect(endless.problem).toContain('ETIMEDOUT');
});
