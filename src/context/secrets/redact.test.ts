import { describe, expect, test } from 'vitest';
import { createCanaries } from '../../../test/kit/canaries.ts';
import { costMeter } from '../../../test/kit/cpu-time.ts';
import { redactNamed, redactQuickly, redactSecrets, withoutSecrets } from './redact.ts';
import { secretNames } from './secret-names.ts';
import { tokenRules } from './token-rules.ts';
import { createTrigramFilter } from './trigram-filter.ts';

const seen = (text: string, parts: readonly string[]): boolean => parts.some((part) => text.includes(part));

describe('secrets', () => {
  test('a duration after the name of a test is none', async () => {
    const printed = '✔ wrong password (0.523208ms)\n✔ refuses the password (12s)\n';
    expect((await redactSecrets(printed)).text).toBe(printed);
  });

  test('[004/8] two thousand fake secrets in many formats are all removed', async () => {
    const missed: string[] = [];
    for (const { format, text, parts } of createCanaries(2_000)) {
      expect(seen(text, parts)).toBe(true);
      const { text: shown, found } = await redactSecrets(`Before\n${text}\nAfter\n`);
      if (seen(shown, parts) || found.length === 0 || !shown.startsWith('Before\n')) missed.push(format);
    }
    expect(missed).toEqual([]);
  });

  test('every rule has a secret that it removes', () => {
    const texts = createCanaries(6_000).map(({ text }) => text);
    const unused = tokenRules.filter(({ pattern }) => !texts.some((text) => text.search(pattern) >= 0));
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  test('the quick rules alone remove them too, and redaction is idempotent', () => {
    const wrong: string[] = [];
    for (const { format, text, parts } of createCanaries(500, 7)) {
      const once = redactQuickly(text);
      if (seen(once, parts) || redactQuickly(once) !== once) wrong.push(format);
    }
    expect(wrong).toEqual([]);
  });

  test('the mark names the rule, and the text around the secret stays', async () => {
    const token = `gh${'p_'}${'aB3'.repeat(12)}`;
    const { text, found } = await redactSecrets(`Use ${token} for the API.`);
    expect(text).toBe('Use [secret removed: github-token] for the API.');
    expect(found).toEqual([{ rule: 'github-token' }]);
  });

  test("secretlint's rules run too, and a comment in the text does not disable them", async () => {
    const key = 'https://user:secret@example.org';
    const text = `/* secretlint-disable */\nup ${key}\n// secretlint-disable-line`;
    expect(redactQuickly(text)).toContain(key);
    expect((await redactSecrets(text)).text).not.toContain(key);
  });

  test('a private key without its end marker is removed, and prose about keys stays', () => {
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
    'at k3f9x2pw:build/task-2/verify#3.',
    'at: f6h44psk:architect#1',
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
    'http://localhost:5173/@vite/client',
    'https://cdn.example.com:443/img/logo@2x.png',
    'http://localhost:3000/@scope/pkg, http://host:8080/a@b',
    'docker run -u 1000:10000 img, podman --user 1000:100000',
    'tar --user 1000:1000 -xf a.tar',
    'token: "src/auth/token-store-v2.ts"',
    'secret: 32-byte-hex',
    'secret: projects/p1/secrets/db-password/versions/3',
    'sk-learn-compatible-estimators-2024, class="sk-spinner-double-bounce2-child"',
    `gh${'p_'}${'x'.repeat(36)}`,
    'xoxb-your-token-here',
    `${'AKIA'}IOSFODNN7EXAMPLE`,
    'token: ERC20-compliant-USDC, bearer: RFC6750-section-2',
    'PASS=12345678, pass=1234567 fail=0, Tests: pass: 41-passed/0-failed',
    'password: changeme123',
    'basic usage2019guide',
    'session_id: 550e8400-e29b-41d4-a716-446655440000',
    'tokens: [primary, secondary-500], tokens: 1234567890123',
    'secretKeyRef:\n  name: db-credentials-v2\n  key: password1',
    'password: {type: string, minLength: 8}',
    'token: https://auth.example.org/oauth2/token',
    'credentials:\n  - name: db-credentials-v2',
    'passphrase: the words that open the key',
  ])('%s is no secret', async (text) => {
    expect((await redactSecrets(text)).text).toBe(text);
  });

  test('the trigram filter never skips a rule that would match', () => {
    const kept: string[] = [];
    for (const { text } of createCanaries(2_000, 5)) {
      const mayHave = createTrigramFilter(text);
      for (const { name, pattern, hints } of tokenRules)
        if (text.search(pattern) >= 0 && !hints.some(mayHave)) kept.push(`${name}: ${text.slice(0, 80)}`);
    }
    expect(kept).toEqual([]);
    for (const [text, secret] of [
      [`curl -u admin:${'Tr0ub4dor'} h`, 'Tr0ub'],
      [`mysql -u root -p${'hunter22'} db`, 'hunter22'],
      [`cookie: sid=${'a1b2c3d4e5f6'}`, 'a1b2'],
      [`pw: ${'hunter22'}`, 'hunter22'],
    ] as const)
      expect(redactQuickly(text)).not.toContain(secret);
  });

  test.each([
    'PassWord',
    'db_pw',
    'bindpw',
    'Kennwort',
    'contraseña',
    '密码',
    'пароль',
    'パスワード',
    'X-Auth',
    'JSESSIONID',
    'csrf',
    'clientKey',
    'set-cookie',
    'otp_seed',
    'PEPPER',
    'mnemonic',
    'creds',
  ])('a text is looked at where %s begins', (name) => {
    expect([...secretNames(`a ${name}`)].map(({ end }) => end)).toEqual([name.length + 2]);
  });

  test('a value stored apart from its name is judged by that name', () => {
    const value = `Sup3r${'S3cret'}Named1`;
    const removed = '[secret removed: assigned-value]';
    expect(redactNamed('db_password', value)).toBe(removed);
    expect(redactNamed('colour', value)).toBe(value);
    expect(redactNamed('token', 'k3f9x2ab:build/task-2/verify#3')).toBe('k3f9x2ab:build/task-2/verify#3');
    expect(
      withoutSecrets({
        key: 'db_password',
        text: value,
        n: 1,
        tokens: [`${value}${value}`],
        api: { api_key: value },
      }),
    ).toEqual({ key: 'db_password', text: removed, n: 1, tokens: [removed], api: { api_key: removed } });
  });

  test('the tail of a private key is removed, also with a partial first line or escapes, and words before it stay', () => {
    const end = `-----END PRIVATE ${'KEY'}-----`;
    const line = 'MIIEpAIBAAKCAQEA7v0k2Xq3'.repeat(2);
    const gone = '[secret removed: private-key]';
    expect(redactQuickly(`Xq3A\n${line}\n${line}\nab==\n${end}\nafter`)).toBe(`${gone}\nafter`);
    expect(redactQuickly(`"${line}\\n${line}\\n${end}"`)).toBe(`"${gone}"`);
    expect(redactQuickly(`FAIL key test\n${line}\n${end}`)).toBe(`FAIL key test\n${gone}`);
    expect(redactQuickly(`a file ends with ${end} and more`)).toContain('a file ends with ');
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
      'cookie: a=',
      'Private-Lines: 1\n',
      '"name":"token",',
      'tokens: ["a", ',
      'variable "token" {',
      'curl -u ',
      'mysql -',
      'password for a b c ',
      '-----END PRIVATE '.concat('KEY-----\n'),
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
      const spent = costMeter();
      await redactSecrets(text);
      if (spent() > 60) slow.push(piece.slice(0, 40));
    }
    expect(slow).toEqual([]);
  });
});
