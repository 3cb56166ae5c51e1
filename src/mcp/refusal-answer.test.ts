import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { refusalAnswer } from './refusal-answer.ts';

it('a refusal has its four keys and what comes with some', () => {
  const refused = { code: 'stale_handle', message: 'it is over', next: 'ask', at: 'k:a#1', events: [] };
  expect(refusalAnswer(refused)).toEqual({
    code: 'stale_handle',
    message: 'it is over',
    next: 'ask',
    at: 'k:a#1',
  });
  const long = refusalAnswer({
    code: 'x',
    message: 'words '.repeat(5000),
    next: 'ask',
    instructions: 'Build.',
  });
  expect(long.instructions).toBe('Build.');
  expect(encode(JSON.stringify(long)).length).toBeLessThan(300);
});
