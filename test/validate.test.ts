import { expect, test } from 'vitest';
import { createIo } from '../src/cli/io.ts';
import { run } from '../src/cli/run.ts';

test('six planted mistakes are reported with their lines and what to write instead', async () => {
  let output = '';
  const stream = { write: (text: string) => (output += text) };
  const root = new URL('..', import.meta.url).pathname;
  const io = createIo({ stdout: stream, stderr: stream, env: {}, cwd: () => root });
  expect(await run(['validate', 'docs/mistakes.yaml', '--json'], io)).toBe(1);
  const [file] = JSON.parse(output).files;
  const found = file.diagnostics.map((one: Record<string, unknown>) => [
    one.severity,
    one.line,
    one.code,
    one.suggestion,
  ]);
  expect(found).toEqual([
    ['error', 4, expect.any(String), 'Write "@docs/conventions.md"'],
    ['error', 9, 'unknown_key', "Did you mean 'instructions'?"],
    ['error', 11, 'wrong_value', 'Write compact or clear.'],
    ['error', 12, 'unknown_placeholder', expect.stringContaining("Did you mean 'task.title'?")],
    ['error', 18, 'bad_condition', "Did you mean 'null'?"],
    ['error', 23, 'unknown_step', "Did you mean 'build'?"],
  ]);
});
