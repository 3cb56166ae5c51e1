import { expect, test } from 'vitest';
import { isAllowedCommand, isForbiddenCommand } from './shell-patterns.ts';

test.each([
  'git status',
  'git',
  'git log --oneline | git cat-file --batch',
  'git add -A && git commit -m "a; b > c"',
  "git log --format='%h `x` $(y)'",
  'git diff 2>&1',
  'git diff 2>/dev/null; git status',
  'git status\ngit log',
  'git show HEAD#1',
])('A14: git * allows: %s', (line) => {
  expect(isAllowedCommand(line, ['git *'])).toBe(true);
});

test.each([
  '',
  'gitk',
  'rm -rf src',
  'git status; rm -rf src',
  'git status && rm x',
  'git status & rm x',
  'git log | sh',
  'git log > src/a.ts',
  'git log >/dev/nullx',
  'git log $(rm x)',
  'git log "$(rm x)"',
  'git log `rm x`',
  "git log $'\\'' ; rm x #'",
  "git log '\\' ; rm x '",
  'git log <(rm x)',
  '(rm x)',
  'GIT_PAGER=evil git log',
  'git status\nrm x',
  'git log "unfinished',
  "git log # it's\ntouch x\n# '",
  'git log "$\\\n(touch x)"',
  'git log \\\n; touch x',
])('A14: git * does not allow: %s', (line) => {
  expect(isAllowedCommand(line, ['git *'])).toBe(false);
});

test('A14: a pattern is exact without *, and :* is the same as a blank and *', () => {
  expect(isAllowedCommand('npm test', ['npm test'])).toBe(true);
  expect(isAllowedCommand('npm test -- x', ['npm test'])).toBe(false);
  expect(isAllowedCommand('npm run test -- x', ['npm run test:*'])).toBe(true);
  expect(isAllowedCommand('node --version', ['* --version'])).toBe(true);
  expect(isAllowedCommand('git push origin main', ['git * main'])).toBe(true);
  expect(isAllowedCommand('git push', ['git * main'])).toBe(false);
  expect(isAllowedCommand('npm test && git status', ['npm test', 'git *'])).toBe(true);
  expect(isAllowedCommand(undefined, ['git *'])).toBe(false);
});

test.each(['git push', 'cd x && git push -f', 'A=1 git push', 'echo $(git push)', 'true;git push origin'])(
  'A14: a forbidden pattern is found in: %s',
  (line) => {
    expect(isForbiddenCommand(line, 'git push *')).toBe(true);
    expect(isForbiddenCommand(line, 'git pull *')).toBe(false);
  },
);
