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
import { cpuTimer } from '../../../test/kit/cpu-time.ts';
import {
  type Entry,
  isRefusal,
  type KeptFile,
  type Merged,
  merge,
  readLedger,
  readSettingsFile,
  remember,
  restored,
  sameJson,
  unmerge,
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

function merged(
  text: string | undefined,
  entries: readonly Entry[],
  dialect: 'json' | 'jsonc' = 'jsonc',
): Merged {
  const result = merge(text, entries, dialect);
  if (isRefusal(result)) throw new Error(result.problem);
  return result;
}

describe('[pain 20] a merge', () => {
  test.each([
    ['{ "a": 1,, }', 'json', 'a comma too many', 1, 10],
    ['{\n  // mine\n  "a": 1\n}', 'json', 'a comment, which this file may not have', 2, 3],
    ['{ "a": 1, }', 'json', 'a comma too many', 1, 11],
    ['{\r\n"a": [1\r\n', 'jsonc', 'a ] is missing', 3, 1],
    ['{ "a": "x }', 'jsonc', 'a text has no end', 1, 8],
    ['[]', 'jsonc', 'the file holds no JSON object', 1, 1],
    ['{"hooks": []}', 'jsonc', "'hooks' is not an object", 1, 11],
    ['{"hooks": {"Stop": "x"}}', 'jsonc', "'hooks.Stop' is not a list", 1, 20],
  ] as const)('into %j (%s) is refused with line and column', (text, dialect, problem, line, column) => {
    expect(merge(text, [statusLine, hook], dialect)).toMatchObject({ problem, line, column });
  });

  test('is written as the file is written, and comments stay at what they are about', () => {
    const text = '{\r\n\t"a": 1, // one\r\n\t"b": {"c": 2} // two\r\n}\r\n';
    expect(merged(text, [plugin]).text).toBe(
      '{\r\n\t"a": 1, // one\r\n\t"b": {"c": 2}, // two\r\n\t"enabledPlugins": {\r\n\t\t"stepfast@stepfast": true\r\n\t}\r\n}\r\n',
    );
    expect(merged('{"a":1}', [plugin]).text).toBe('{"a":1, "enabledPlugins": {"stepfast@stepfast":true}}');
  });

  test('never replaces what somebody else set', () => {
    const { text, kept } = merged('{"statusLine": {"command": "mine"}}', [statusLine]);
    expect([text, kept]).toEqual(['{"statusLine": {"command": "mine"}}', [statusLine]]);
  });

  test('renews what has our name', () => {
    expect(merged('{"enabledPlugins": {"stepfast@stepfast": false}}', [plugin]).text).toBe(
      '{"enabledPlugins": {"stepfast@stepfast": true}}',
    );
  });

  test('goes into the last of two keys, which is the one that counts', () => {
    const { text } = merged('{"enabledPlugins": {"a": true}, "enabledPlugins": {"b": true}}', [plugin]);
    expect(JSON.parse(text)).toEqual({ enabledPlugins: { b: true, 'stepfast@stepfast': true } });
  });
});

test('[pain 20] one long line with 8,000 keys takes less than a second', () => {
  const keys = Array.from({ length: 8000 }, (_, index) => `"key-${index}":${index}`).join(',');
  const text = `{${keys}}`;
  const spent = cpuTimer();
  const { text: after, added } = merged(text, [plugin]);
  expect(unmerge(after, added, 'jsonc')).toEqual({ text });
  expect(spent()).toBeLessThan(1000);
});

test('an empty object is not an empty list', () => {
  expect([sameJson({}, []), sameJson({ a: [] }, { a: {} }), sameJson([['a', 1]], { a: 1 })]).toEqual([
    false,
    false,
    false,
  ]);
  expect(sameJson({ a: 1, b: [{}] }, { b: [{}], a: 1 })).toBe(true);
});

describe('[pain 20] taken out again', () => {
  test('a hook that somebody put beside ours stays', () => {
    const { text, added } = merged('{}', [hook]);
    const both = text.replace(
      '"stepfast-hook stop"}',
      '"stepfast-hook stop"},{"type":"command","command":"mine"}',
    );
    const left = unmerge(both, added, 'jsonc');
    expect(JSON.parse('text' in left ? left.text : '')).toEqual({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
    });
  });

  test('a list that was empty before stays, and one that was made goes', () => {
    const { text, added } = merged('{"hooks": {"Stop": []}}', [hook, plugin]);
    expect(unmerge(text, added, 'jsonc')).toEqual({ text: '{"hooks": {"Stop": []}}' });
  });

  test('a value that somebody changed is theirs', () => {
    const { text, added } = merged('{}', [statusLine]);
    const theirs = text.replace('stepfast statusline', 'mine');
    expect(unmerge(theirs, added, 'jsonc')).toEqual({ text: theirs });
  });

  test('a comment up to the end of the line swallows nothing', () => {
    const { added } = merged('{}', [statusLine]);
    const ours = '"statusLine": {"command": "stepfast statusline"}';
    const left = unmerge(`{ // mine\n${ours}, "b": 2 }`, added, 'jsonc');
    expect(left).toEqual({ text: '{ // mine\n "b": 2 }' });
  });
});

describe('[pain 20] what is remembered', () => {
  const text = '{ "a" :1 }';
  const first = (): KeptFile => {
    const { text: end, added } = merged(text, [plugin]);
    return remember(undefined, { path: 'x', start: text, end, added }, 'json');
  };

  test('brings back every byte where nobody wrote since', () => {
    expect(restored(first().after, first(), 'json')).toBe(text);
  });

  test('leaves what somebody wrote since', () => {
    const now = first().after.replace('"a" :1', '"a" :2');
    expect(restored(now, first(), 'json')).toBe('{ "a" :2 }');
  });

  test('lasts through a second time, also when somebody wrote in between', () => {
    const now = first().after.replace('"a" :1', '"a" :2');
    const { text: end, added } = merged(now, [plugin, statusLine]);
    const second = remember(first(), { path: 'x', start: now, end, added }, 'json');
    expect(restored(end, second, 'json')).toBe('{ "a" :2 }');
    expect(
      restored(
        first().after,
        remember(first(), { path: 'x', start: first().after, end: first().after, added }, 'json'),
        'json',
      ),
    ).toBe(text);
  });

  test('takes away a file that was made, unless somebody wrote into it', () => {
    const { text: end, added } = merged(undefined, [plugin]);
    const made = remember(undefined, { path: 'x', start: undefined, end, added }, 'json');
    expect(restored(end, made, 'json')).toBe(null);
    expect(restored(end.replace('{', '{ '), made, 'json')).toBe(null);
    expect(JSON.parse(String(restored(merged(end, [statusLine]).text, made, 'json')))).toMatchObject({
      statusLine: {},
    });
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

  test('is remembered where nobody else reads it', () => {
    const ledger = { version: 1, host: 'claude-code', root: '/a', files: [], folders: [] } as const;
    writeLedger(folder, { ...ledger, files: [], folders: [] });
    expect(readLedger(folder, 'claude-code', '/a')).toEqual(ledger);
    expect(readLedger(folder, 'claude-code', '/b')).toBeUndefined();
    writeLedger(folder, { ...ledger, files: [], folders: ['x'] });
    expect(readdirSync(join(folder, 'installs'))).toHaveLength(1);
    const [name = ''] = readdirSync(join(folder, 'installs'));
    expect(statSync(join(folder, 'installs', name)).mode & 0o777).toBe(0o600);
  });
});
