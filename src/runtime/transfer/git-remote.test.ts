import { expect, test } from 'vitest';
import { shownUrl, withoutCredentials } from './git-remote.ts';

test.each([
  ['https://github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://token@github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://ada:pa@ss:w@github.com/a/b.git', 'https://github.com/a/b.git'],
  ['https://github.com/a/b.git?access_token=x', 'https://github.com/a/b.git'],
  ['ssh://git:x@host:22/a', 'ssh://host:22/a'],
  ['git@github.com:a/b.git', 'git@github.com:a/b.git'],
  ['../a@b/c.git', '../a@b/c.git'],
  ["https://ada:it's@host/x", 'https://host/x'],
  ['http://user:pa/SSW0RD@host/x.git', 'http://host/x.git'],
  ['gcrypt::http://u:p@host/x', 'gcrypt::http://host/x'],
  ['user:PASSW0RDx@127.0.0.1:x.git', '127.0.0.1:x.git'],
  ['user:pa@ss:W0RDx@host:x.git', 'host:x.git'],
  [`https://host/gh${'p_'}${'aB3'.repeat(12)}/x.git`, 'https://host/[secret removed: github-token]/x.git'],
  ['https://host:8443/a/b.git', 'https://host:8443/a/b.git'],
  ['ssh://git@host:2222/a/b.git', 'ssh://host:2222/a/b.git'],
  ['/srv/git/x.git', '/srv/git/x.git'],
])('the address %s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test.each([
  "fatal: unable to access 'http://u:S3cretPW@host/x/': no",
  'fatal: xhttp://u:S3cretPW@host/x and _https://u:a@S3cretPW@host',
  'fatal: gcrypt::http://u:S3cretPW@host',
  'fatal: u:S3cretPW@host: Permission denied',
  "error: 'u:S3cretPW@host:x.git' does not appear to be a git repository",
  'fatal: https://host/x?token=S3cretPW',
])('what git says is told without credentials: %s', (said) => {
  expect(withoutCredentials(said)).not.toContain('S3cretPW');
  expect(withoutCredentials(said)).toContain('host');
});
