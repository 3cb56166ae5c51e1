import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { asTyped, commandName, findCommandName, recordCommandName, useCommandName } from './command-name.ts';
import { createTestFolder } from './testing/index.ts';

afterEach(() => useCommandName(() => 'stepfast'));

test('[U7] a command is printed as it works in the installation', () => {
  using folder = createTestFolder();
  const at = (...parts: string[]): string => join(folder.root, ...parts);
  for (const bin of [at('bin'), at('node_modules', '.bin')]) {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'stepfast'), '');
    chmodSync(join(bin, 'stepfast'), 0o755);
  }
  const npm = { PATH: at('node_modules', '.bin') };
  const installed = at('node_modules', 'stepfast', 'dist', 'cli.js');
  expect(findCommandName({ main: installed, env: { PATH: at('bin') } })).toBe('stepfast');
  expect(findCommandName({ main: installed, env: npm })).toBe('npx stepfast');
  expect(findCommandName({ main: '/clone/dist/cli.js', env: npm })).toBe('node /clone/dist/cli.js');
  expect(findCommandName({ main: '/a clone/dist/cli.js', env: {} })).toBe('node "/a clone/dist/cli.js"');
});

test('[U7] the copy that a host starts prints the command of the person who ran init', () => {
  using folder = createTestFolder({ 'plugin/0.1.0/dist/cli.js': '' });
  const main = join(folder.root, 'plugin/0.1.0/dist/cli.js');
  expect(findCommandName({ main, env: {} })).toBe(`node ${main}`);
  useCommandName(() => 'npx stepfast');
  recordCommandName(join(folder.root, 'plugin'));
  expect(findCommandName({ main, env: {} })).toBe('npx stepfast');
  useCommandName(() => 'stepfast');
  recordCommandName(join(folder.root, 'plugin'));
  expect(findCommandName({ main, env: {} })).toBe(`node ${main}`);
});

test('[U7] the search runs once, and help is typed in the same way', () => {
  let searches = 0;
  useCommandName(() => {
    searches += 1;
    return 'npx stepfast';
  });
  expect(asTyped('npx stepfast init, git log | stepfast advance -, /stepfast:go, stepfast <command>')).toBe(
    'npx stepfast init, git log | npx stepfast advance -, /stepfast:go, npx stepfast <command>',
  );
  expect(commandName()).toBe('npx stepfast');
  expect(searches).toBe(1);
});
