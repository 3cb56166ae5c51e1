import { expect, test } from 'vitest';
import { shownUrl } from './remote.ts';

test.each([
  ['https://github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://token@github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://ada:pa@ss:w@github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://github.com/a/b.git?access_token=x', 'https://github.com/a/b.git'],
  ['ssh://git:x@host:22/a', 'ssh://host:22/a'],
  ['git@github.com:a/b.git', 'git@github.com:a/b.git'],
  ['../a@b/c.git', '../a@b/c.git'],
  ["https://ada:it's@host/x", 'https://host/x'],
])('the address %s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
