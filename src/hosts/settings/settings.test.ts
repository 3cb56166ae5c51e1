import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Entry,
  isRefusal,
  readLedger,
  readSettingsFile,
  restored,
  withEntries,
  writeLedger,
  writeSettingsFile,
} from './index.ts';

const statusLine: Entry = { kind: 'value', path: ['statusLine'], value: { command: 'stepfast statusline' } };
const plugin: Entry = {
  kind: 'value',
  path: ['enabledPlugins', 'stepfast@stepfast'],
  value: true,
  named: true,
};
const hook: Entry = {
  kind: 'item',
  path: ['hooks', 'Stop'],
  value: { hooks: [{ type: 'command', command: 'stepfast-hook stop' }] },
};

function added(text: string | null, entries: readonly Entry[]): string {
  const result = withEntries(text, entries, 'jsonc');
  if (typeof result !== 'string') throw new Error(`refused: ${JSON.stringify(result)}`);
  return result;
}

describe('[pain 20] adding entries', () => {
  test.each([
    ['{ "a": 1,, }', 'json', 'an extra comma', 1, 10],
    ['{\n  // mine\n  "a": 1\n}', 'json', 'a comment, which is not allowed in this file', 2, 3],
    ['{ "a": 1, }', 'json', 'an extra comma', 1, 11],
    ['{\r\n"a": [1\r\n', 'jsonc', 'a ] is missing', 3, 1],
    ['{ "a": "x }', 'jsonc', 'an unterminated string', 1, 8],
    ['[]', 'jsonc', 'the file is not a JSON object', 1, 1],
    ['{"hooks": []}', 'jsonc', "'hooks' is not an object", 1, 11],
    ['{"hooks": {"Stop": "x"}}', 'jsonc', "'hooks.Stop' is not a list", 1, 20],
  ] as const)('to %j (%s) is refused with line and column', (text, dialect, problem, line, column) => {
    expect(withEntries(text, [statusLine, hook], dialect)).toMatchObject({ problem, line, column });
  });

  test('keeps comments, line ends and indentation', () => {
    const text = '{\r\n\t// one\r\n\t"a": 1, // two\r\n\t"b": {"c":  2} /* three */\r\n}\r\n';
    expect(added(text, [plugin])).toBe(
      '{\r\n\t// one\r\n\t"a": 1, // two\r\n\t"b": {\r\n\t\t"c": 2\r\n\t},\r\n\t"enabledPlugins": {\r\n\t\t"stepfast@stepfast": true\r\n\t} /* three */\r\n}\r\n',
    );
  });

  test('keeps a file on one line, and every line of a file in the usual format', () => {
    expect(added('{"a":1}', [plugin])).toBe('{"a":1,"enabledPlugins": {"stepfast@stepfast":true}}');
    expect(added('{\n  "a": [\n    1\n  ],\n  "b": {}\n}\n', [plugin])).toBe(
      '{\n  "a": [\n    1\n  ],\n  "b": {},\n  "enabledPlugins": {\n    "stepfast@stepfast": true\n  }\n}\n',
    );
  });

  test("never replaces a person's value", () => {
    expect(added('{"statusLine": {"command": "mine"}}', [statusLine])).toBe(
      '{"statusLine": {"command": "mine"}}',
    );
  });

  test('renews what has our name', () => {
    expect(added('{"enabledPlugins": {"stepfast@stepfast": false}}', [plugin])).toBe(
      '{"enabledPlugins": {"stepfast@stepfast": true}}',
    );
  });

  test.each(['{"b": true}', '1'])(
    'to a key that is there twice goes into the last one, which counts (first: %s)',
    (first) => {
      const text = added(`{"enabledPlugins": ${first}, "enabledPlugins": {"c": true}}`, [plugin]);
      expect(JSON.parse(text)).toEqual({ enabledPlugins: { c: true, 'stepfast@stepfast': true } });
    },
  );

  test('to 8,000 keys on one line keeps them on one line', () => {
    const text = `{${Array.from({ length: 8000 }, (_, index) => `"key-${index}":${index}`).join(',')}}`;
    expect(added(text, [plugin])).not.toContain('\n');
    expect(restored(added(text, [plugin]), { before: text, entries: [plugin] }, 'jsonc')).toBe(text);
  });
});

describe('[pain 20] restoring', () => {
  const entries = [statusLine, plugin, hook];
  const before = '{ "a" :1 }';
  const restoredFrom = (now: string, was: string | null = before): unknown => {
    const left = restored(now, { before: was, entries }, 'json');
    return left === null || isRefusal(left) ? left : JSON.parse(left);
  };

  test('brings every byte back, also from a file that the host wrote in another order', () => {
    const now = added(before, entries);
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(now)).reverse()));
    for (const each of [now, reversed]) expect(restored(each, { before, entries }, 'json')).toBe(before);
  });

  test("keeps the owner's changes, and removes our entries without a trace in a file in the usual format", () => {
    const text = '{\n  "a": 1\n}\n';
    const now = added(text, entries).replace('"a": 1', '"a": 2');
    expect(restored(now, { before: text, entries }, 'json')).toBe('{\n  "a": 2\n}\n');
  });

  test('keeps a hook that the owner put beside ours', () => {
    const now = JSON.parse(added(before, entries));
    now.hooks.Stop[0].hooks.push({ type: 'command', command: 'mine' });
    expect(restoredFrom(JSON.stringify(now))).toEqual({
      a: 1,
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
    });
  });

  test('keeps a list that was empty before, and a value of ours that the owner changed', () => {
    const text = '{"hooks": {"Stop": []}}';
    const now = added(text, entries).replace('stepfast statusline', 'mine');
    expect(restoredFrom(now, text)).toEqual({ hooks: { Stop: [] }, statusLine: { command: 'mine' } });
  });

  test('removes a file that was created, unless the owner wrote into it', () => {
    const now = added(null, entries);
    expect(restoredFrom(now, null)).toBe(null);
    expect(restoredFrom('{"hooks": {}}', null)).toBe(null);
    expect(restoredFrom(added(now, [{ kind: 'value', path: ['later'], value: 1 }]), null)).toEqual({
      later: 1,
    });
  });

  test('refuses a file that cannot be read', () => {
    expect(restoredFrom('{ "a": ')).toMatchObject({ code: 'broken', line: 1 });
  });
});

describe('a settings file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stepfast-settings-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('[pain 20] keeps its mode, and a link to it stays a link', () => {
    const target = join(folder, 'target.json');
    const link = join(folder, 'link.json');
    writeFileSync(target, '{}');
    chmodSync(target, 0o640);
    symlinkSync('target.json', link);
    writeSettingsFile(link, '{"a":1}');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('{"a":1}');
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'target.json']);
  });

  test('[pain 20] that is not UTF-8 is left alone', () => {
    const file = join(folder, 'latin.json');
    writeFileSync(file, Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x7d]));
    expect(() => readSettingsFile(file)).toThrow(/not written in UTF-8/);
  });

  test('is kept where no other user reads it', () => {
    const ledger = { version: 2, host: 'claude-code', root: '/a', files: [], folders: [] } as const;
    writeLedger(folder, { ...ledger, files: [], folders: [] });
    expect(readLedger(folder, 'claude-code', '/a')).toEqual(ledger);
    expect(readLedger(folder, 'claude-code', '/b')).toBeUndefined();
    writeLedger(folder, { ...ledger, files: [], folders: ['x'] });
    expect(readdirSync(join(folder, 'installs'))).toHaveLength(1);
    const [name = ''] = readdirSync(join(folder, 'installs'));
    expect(statSync(join(folder, 'installs', name)).mode & 0o777).toBe(0o600);
  });
});
