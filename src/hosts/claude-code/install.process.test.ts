import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClaude, type FakeClaude } from '../../../test/kit/fake-claude.ts';

/** A byte order mark, CRLF, a tab, a key that stands twice. */
const odd = `\uFEFF{\r\n   "permissions": {"allow": ["Bash(ls)"]},\r\n\t"x": [1,  2],"env":{"A":"1","A":"2"}\r\n}`;

let claude: FakeClaude;
beforeEach(() => {
  claude = createFakeClaude();
});
afterEach(() => claude[Symbol.dispose]());

const granted = (): unknown => JSON.parse(claude.read()?.replace('\uFEFF', '') ?? '{}').permissions?.allow;

describe('[pain 20] every byte comes back', () => {
  beforeEach(() => claude.put(odd));

  test('where the host wrote the file anew, twice', async () => {
    expect(await claude.init()).toBeUndefined();
    expect(claude.read()).toContain('statusline.cjs');
    expect(claude.read()?.startsWith(odd.slice(0, odd.indexOf('\t')))).toBe(true);
    expect(await claude.uninstall()).toMatchObject({ files: [{ how: 'as_before' }], used: false });
    expect(claude.read()).toBe(odd);
  });

  test('where another project keeps the marketplace', async () => {
    claude.has({ scope: 'local', projectPath: '/elsewhere' });
    await claude.init();
    expect(await claude.uninstall()).toMatchObject({ files: [{ how: 'as_before' }], used: true });
    expect(claude.read()).toBe(odd);
    expect(claude.commands().at(-1)).toBe('plugin uninstall stepfast@stepfast --scope local');
  });

  test('where Claude Code is gone, so that other users of the plugin are unknown', async () => {
    await claude.init();
    expect(await claude.uninstall({ isGone: true })).toMatchObject({ commands: [], used: true });
    expect(claude.read()).toBe(odd);
  });

  test('where a command of the host fails, and again when it does not', async () => {
    await claude.init();
    claude.trouble({ fails: 'plugin marketplace remove' });
    expect(await claude.uninstall()).toMatchObject({
      code: 'host_failed',
      message: expect.stringContaining('The disk is full'),
    });
    expect(claude.read()).toBe(odd);
    claude.trouble({});
    expect(await claude.uninstall()).toMatchObject({ files: [{ how: 'as_before' }], used: false });
    expect(claude.read()).toBe(odd);
  });

  test.each([{ again: true }, { again: false }])(
    'where init was ended after the host had written (init again: $again)',
    async ({ again }) => {
      claude.trouble({ stopped: 'plugin install' });
      await claude.init();
      claude.goBack();
      expect(claude.read()).not.toContain('\uFEFF');
      expect(claude.read()).not.toContain('statusline.cjs');
      claude.trouble({});
      if (again) await claude.init();
      await claude.uninstall({ isGone: again });
      expect(claude.read()).toBe(odd);
    },
  );

  test('where the committed file has the plugin too', async () => {
    const teams = '{ "enabledPlugins": {"stepfast@stepfast":   true} }';
    claude.put(teams, 'settings.json');
    await claude.init();
    expect(await claude.uninstall()).toMatchObject({
      files: [
        { how: 'as_before' },
        {
          file: '.claude/settings.json',
          how: 'left',
          why: expect.stringContaining('stepfast uninstall --team'),
        },
      ],
    });
    expect(claude.read()).toBe(odd);
    expect(claude.read('settings.json')).toBe(teams);
  });
});

describe('[pain 20] a permission that a session is given meanwhile', () => {
  const before = '{ "permissions": { "allow": ["Bash(ls)"] } }\n';

  test.each([
    [before, false],
    [before, true],
    [undefined, false],
    [undefined, true],
  ])('stays after uninstall (before: %j, Claude Code gone: %s)', async (text, isGone) => {
    if (text !== undefined) claude.put(text);
    claude.trouble({ granted: 'plugin install' });
    await claude.init();
    claude.trouble({});
    await claude.uninstall({ isGone });
    expect(granted()).toContain('GRANTED');
    expect(claude.read()).not.toContain('stepfast');
  });

  test.each([before, undefined])('stays where init fails (before: %j)', async (text) => {
    if (text !== undefined) claude.put(text);
    claude.trouble({ fails: 'plugin install', granted: 'plugin install' });
    expect(await claude.init()).toMatchObject({ code: 'host_failed' });
    expect(granted()).toContain('GRANTED');
    expect(claude.read()).not.toContain('stepfast');
    expect(readdirSync(join(claude.context.state, 'installs'))).toEqual([]);
  });
});

test('[pain 20] an init that fails leaves every byte and no record', async () => {
  claude.put(odd);
  claude.trouble({ fails: 'plugin install' });
  expect(await claude.init()).toMatchObject({ code: 'host_failed' });
  expect(claude.read()).toBe(odd);
  expect(readdirSync(join(claude.context.state, 'installs'))).toEqual([]);
});

test('[pain 20] an init that fails where there was nothing leaves no folder', async () => {
  claude.trouble({ fails: 'plugin install' });
  expect(await claude.init()).toMatchObject({ code: 'host_failed' });
  expect(existsSync(join(claude.context.root, '.claude'))).toBe(false);
});

test('[pain 20] without a record, what has our name goes, and the status line where it is ours to the letter', async () => {
  claude.put('{ "model": "x" }\n');
  await claude.init();
  const records = join(claude.context.state, 'installs');
  rmSync(records, { recursive: true });
  // A second init makes a record of what is there, and of no more.
  await claude.init();
  const [name = ''] = readdirSync(records);
  writeFileSync(
    join(records, name),
    JSON.stringify({ version: 1, root: claude.context.root, files: [], folders: [] }),
  );
  await claude.uninstall({ isGone: true });
  expect(claude.read()).toBe('{ "model": "x" }\n');
});

test('[pain 20] a record that init makes of what was there already does not bring it back', async () => {
  claude.put('{ "model": "x" }\n');
  await claude.init();
  rmSync(join(claude.context.state, 'installs'), { recursive: true });
  await claude.init();
  await claude.uninstall({ isGone: true });
  expect(claude.read()).toBe('{ "model": "x" }\n');
});

test('[pain 20] a status line of their own stays', async () => {
  claude.put('{ "model": "x" }\n');
  await claude.init();
  claude.put(
    (claude.read() ?? '').replace(/"command":\s*"node [^"]*"/, '"command": "stepfast statusline | mine"'),
  );
  rmSync(join(claude.context.state, 'installs'), { recursive: true });
  await claude.uninstall();
  expect(claude.read()).toContain('mine');
});

test('a list that the host does not give means nothing: uninstall does nothing', async () => {
  await claude.init();
  const before = claude.read();
  claude.trouble({ fails: 'plugin list' });
  expect(await claude.uninstall()).toMatchObject({
    code: 'host_failed',
    next: expect.stringContaining('stepfast uninstall'),
  });
  expect(claude.read()).toBe(before);
});

test('a plugin that the person has for all projects stays, and uninstall says how it goes', async () => {
  await claude.init();
  claude.has({ scope: 'user' });
  expect(await claude.uninstall()).toMatchObject({
    commands: ['claude plugin uninstall stepfast@stepfast --scope local'],
    used: true,
    notes: [expect.stringContaining('--scope user')],
  });
});

test('what init --team wrote goes with a plain uninstall, and what others committed with --team', async () => {
  claude.put('{\n        "cleanupPeriodDays": 99\n}', 'settings.json');
  await claude.init({ team: true });
  expect(claude.read('settings.json')).toContain('stepfast@stepfast');
  await claude.uninstall();
  expect(claude.read('settings.json')).toBe('{\n        "cleanupPeriodDays": 99\n}');
  claude.put('{ "model": "x", "enabledPlugins": {"stepfast@stepfast": true} }\n', 'settings.json');
  await claude.uninstall({ team: true });
  expect(claude.read('settings.json')).toBe('{ "model": "x" }\n');
});

test('[pain 20] where there was nothing, nothing is left', async () => {
  await claude.init();
  await claude.uninstall();
  expect(existsSync(join(claude.context.root, '.claude'))).toBe(false);
  expect(readdirSync(join(claude.context.state, 'installs'))).toEqual([]);
});
