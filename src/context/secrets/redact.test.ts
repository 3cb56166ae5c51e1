import { describe, expect, test } from 'vitest';
import { createCanaries } from './canaries.ts';
import { redactQuickly, redactSecrets } from './redact.ts';
import { tokenRules } from './token-rules.ts';

const seen = (text: string, parts: readonly string[]): boolean => parts.some((part) => text.includes(part));

describe('secrets', () => {
  test('[004/8] two thousand made-up secrets in many formats are all removed', async () => {
    const missed: string[] = [];
    for (const { format, text, parts } of createCanaries(2_000)) {
      expect(seen(text, parts)).toBe(true);
      const { text: shown, found } = await redactSecrets(`Before\n${text}\nAfter\n`);
      if (seen(shown, parts) || found.length === 0 || !shown.startsWith('Before\n')) missed.push(format);
    }
    expect(missed).toEqual([]);
  });

  test('every rule has a secret that it removes', () => {
    const texts = createCanaries(2_000).map(({ text }) => text);
    const unused = tokenRules.filter(({ pattern }) => !texts.some((text) => text.search(pattern) >= 0));
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  test('the quick rules alone know them too, and removing twice is removing once', () => {
    const wrong: string[] = [];
    for (const { format, text, parts } of createCanaries(500, 7)) {
      const once = redactQuickly(text);
      if (seen(once, parts) || redactQuickly(once) !== once) wrong.push(format);
    }
    expect(wrong).toEqual([]);
  });

  test('what was removed is named by its rule and the text around it stays', async () => {
    const token = `gh${'p_'}${'aB3'.repeat(12)}`;
    const { text, found } = await redactSecrets(`Use ${token} for the API.`);
    expect(text).toBe('Use [secret removed: github-token] for the API.');
    expect(found).toEqual([{ rule: 'github-token' }]);
  });

  test("secretlint's rules are asked too, and a comment in the text does not switch them off", async () => {
    const key = `tskey-${'auth'}-kAb3dEf5gH-${'aB3d'.repeat(8)}`;
    const text = `/* secretlint-disable */\nup ${key}\n// secretlint-disable-line`;
    expect(redactQuickly(text)).toContain(key);
    expect((await redactSecrets(text)).text).not.toContain(key);
  });

  test('a private key whose end was cut off is removed, and prose that names one stays', () => {
    const begin = `-----BEGIN RSA PRIVATE ${'KEY'}-----`;
    const line = 'MIIEpAIBAAKCAQEA7v0k2Xq3'.repeat(2);
    expect(redactQuickly(`${begin}\n${line}\n${line}`)).toBe('[secret removed: private-key]');
    expect(redactQuickly(`A file with ${begin} is refused. Rotate it.`)).toContain('is refused. Rotate it.');
  });

  test.each([
    'commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3 is good',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'task 550e8400-e29b-41d4-a716-446655440000',
    'at k3f9x2ab:build/task-2/verify#3',
    'token: k3f9x2ab:build/task-2/verify#3',
    'run feature-20261114-k3f9x2ab, secret: feature-20261114-k3f9x2ab',
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    'resolved "https://registry.example.com/a/-/a-1.0.0.tgz#a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"',
    '"@inquirer/password": "^5.2.5"',
    'const token = parseHandle(text);',
    'password: options.password,',
    'if (token === undefined) return;',
    'max_tokens: 2500, tokens: 400000',
    'token: string; password?: string',
    'password = process.env.DB_PASSWORD',
    `password: $${'{DB_PASSWORD}'}`,
    'api_key: <your key>',
    'The password is required and must have 8 characters.',
    'token estimate: 1234',
    'secret: docs/secrets.md',
    'passes 12 of 12 tests, gate passed: 12/12',
    'Authorization: Bearer <token>',
    'bearer tokens are described in RFC6750, Basic auth in RFC7617',
    'git@github.com:owner/repo.git, npm i foo@1.2.3',
    'src/context/secrets/token-rules.ts:12, @docs/plan.md',
    'token => token.value2',
    'type Token = { kind2: string }, TokenOrValue, StyleSheet',
    'https://example.com/a?token={input.token}',
    'STEPFAST_TOKEN=$TOKEN',
    'pwd: /srv/app1/data',
    'next_token: 2026-01-04T12:00:00Z',
    'https://user:pass@localhost and https://user:password@example.com',
    'deploy key: sha256:9f86d081884c7d659a2feaa0c55ad015',
  ])('%s is no secret', async (text) => {
    expect((await redactSecrets(text)).text).toBe(text);
  });

  test('no text of 100 KB makes a rule slow', async () => {
    const halves = createCanaries(25, 3).map(({ text }) => text.slice(0, Math.ceil(text.length * 0.6)));
    const pieces = [
      'eyJ',
      '-eyJ',
      'eyJaaaaaaaaaa.',
      'a://b:',
      'a:',
      'password',
      'password: "',
      'AccountKey=',
      '-api-key=',
    ];
    const keys = ['-----BEGIN PRIVATE ', 'KEY-----', '\nA: "'].join('');
    const slow: string[] = [];
    for (const piece of new Set([
      ...pieces,
      keys,
      ...halves,
      ' ',
      '\n',
      '-',
      '_',
      'a',
      'a.',
      '"',
      '\\',
      '://',
    ])) {
      const text = piece.repeat(Math.ceil(100_000 / piece.length)).slice(0, 100_000);
      const begin = performance.now();
      await redactSecrets(text);
      if (performance.now() - begin > 3_000) slow.push(piece.slice(0, 40));
    }
    expect(slow).toEqual([]);
  });
});
