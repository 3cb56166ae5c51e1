import { readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { estimateTokens } from '../machine/index.ts';
import { firstWithin, lastWithin } from './fit-tokens.ts';

const texts: Record<string, string> = {
  prose: readFileSync(new URL('../../AGENTS.md', import.meta.url), 'utf8'),
  code: readFileSync(new URL('./fit-tokens.ts', import.meta.url), 'utf8'),
  json: readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  base64: Buffer.from(Array.from({ length: 600 }, (_, index) => (index * index * 31) % 251)).toString(
    'base64',
  ),
  hex: Buffer.from(Array.from({ length: 600 }, (_, index) => (index * index * 31) % 251)).toString('hex'),
  punctuation: '!@#$%^&*()_+-=~`|\\;<>?/.'.repeat(20),
  Japanese: 'テストが失敗しました。期待される値と実際の値が一致しません'.repeat(10),
  emoji: '😀🎉🚀✅❌🔥🧪👩‍💻🇩🇪'.repeat(10),
};

it.each(Object.entries(texts))('the estimate of %s is not too low, and not far too high', (_, text) => {
  const tokens = encode(text).length;
  expect(estimateTokens(text)).toBeGreaterThan(tokens * 0.95);
  expect(estimateTokens(text)).toBeLessThan(tokens * 2.5);
});

it('a text within a number of tokens is a piece of it, never half a character', () => {
  for (const text of Object.values(texts)) {
    for (const tokens of [0, 1, 7, 50]) {
      const last = lastWithin(text, tokens);
      const first = firstWithin(text, tokens);
      expect(text.trimEnd().endsWith(last)).toBe(true);
      expect(text.startsWith(first.replace(/…$/, ''))).toBe(true);
      expect(last.isWellFormed() && first.isWellFormed()).toBe(true);
      expect(encode(last).length).toBeLessThanOrEqual(tokens + 2);
    }
    expect(lastWithin(text, 100_000)).toBe(text.trimEnd());
    expect(firstWithin(text, 100_000)).toBe(text);
  }
});
