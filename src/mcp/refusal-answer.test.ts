import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import type { Refused } from '../messages/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { refusalAnswer } from './refusal-answer.ts';

// Only a refusal for an unknown workflow asks the runtime.
const runtime = {} as Runtime;

it('a refusal has its four keys and the instructions that come with some', async () => {
  const refused: Refused = { code: 'stale_handle', params: { at: 'k:a#1' }, at: 'k:a#1', events: [] };
  expect(Object.keys(await refusalAnswer(refused, runtime))).toEqual(['code', 'message', 'next', 'at']);
  const message = 'words '.repeat(5000);
  const long = await refusalAnswer(
    { code: 'not_writable', params: { message }, instructions: 'Build.' },
    runtime,
  );
  expect(long.instructions).toBe('Build.');
  expect(encode(JSON.stringify(long)).length).toBeLessThan(300);
});
