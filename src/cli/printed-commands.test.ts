import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionSamples } from '../../test/kit/message-samples.ts';
import { nextForPerson, nextForShell } from '../messages/index.ts';
import { commands } from './commands.ts';

const source = join(import.meta.dirname, '..');

/** Commands in the texts of the sources, up to where the sentence goes on. */
function printed(): { file: string; command: string; options: string[] }[] {
  const files = globSync('{cli,messages,runtime,workspace,machine,store}/**/*.ts', { cwd: source });
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [
        ...readFileSync(join(source, file), 'utf8').matchAll(
          /(?:\bstepfast|\$\{commandName\(\)\}) ([a-z]+)((?: [^;,'`\n]*)?)/g,
        ),
      ].map(([, command = '', rest = '']) => ({
        file,
        command,
        options: [...rest.matchAll(/(?<= )--([a-z-]+)/g)].map(([, name = '']) => name),
      })),
    )
    .filter(({ options }) => options.length > 0);
}

async function unknownIn(command: string, options: readonly string[]): Promise<string[]> {
  if (command === 'help') return options.filter((option) => option !== 'all');
  const known = commands.find(({ name }) => name === command);
  const accepted = Object.keys((await known?.load())?.options ?? {});
  // Some commands keep their options to themselves; their help tells them.
  const told = known?.options.flatMap(([flag]) => flag.match(/--[a-z-]+/)?.[0].slice(2) ?? []) ?? [];
  const all = accepted.length > 0 ? accepted : told;
  return options.filter((option) => !all.includes(option)).map((option) => `stepfast ${command} --${option}`);
}

test('every command that is printed has the options it is printed with', async () => {
  const all = printed();
  expect(all.length).toBeGreaterThan(30);
  const unknown = await Promise.all(all.map(({ command, options }) => unknownIn(command, options)));
  expect(unknown.flat()).toEqual([]);
});

test('what to type for every action is accepted', async () => {
  const all = actionSamples.flatMap((action) =>
    [nextForShell, nextForPerson].flatMap((next) =>
      [undefined, 'k3f9x2ab'].flatMap((run) => next(action, run).commands),
    ),
  );
  expect(all.length).toBeGreaterThan(2 * actionSamples.length);
  const unknown = await Promise.all(
    all.map((typed) => {
      const [, command = ''] = typed.split(' ');
      return unknownIn(
        command,
        [...typed.matchAll(/(?<= )--([a-z-]+)/g)].map(([, name = '']) => name),
      );
    }),
  );
  expect(unknown.flat()).toEqual([]);
});
