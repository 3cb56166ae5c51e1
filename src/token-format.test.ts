import { expect, test } from 'vitest';
import { newToken, tokenId } from './token-format.ts';

test('S6: a token with a wrong checksum, or of another form, is none', () => {
  const { id, token } = newToken();
  expect(tokenId(token)).toBe(id);
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  const others = [
    '',
    'sf_',
    token.slice(0, -1),
    `${token}x`,
    `${token}\n`,
    `${token.slice(0, -1)}${last}`,
    token.replace('sf_', 'SF_'),
    token.replace(id, 'ffff'),
    token.replace(/.{7}$/, (end) => `${end[0] === 'A' ? 'B' : 'A'}${end.slice(1)}`),
  ];
  for (const other of others) expect(tokenId(other), other).toBeUndefined();
});

test('S6: a token of an earlier version has no checksum', () => {
  expect(tokenId(`sf_0123456789abcdef_${'aZ0_-'.repeat(9).slice(0, 43)}`)).toBe('0123456789abcdef');
});
