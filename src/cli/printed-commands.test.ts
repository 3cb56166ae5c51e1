import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Status } from '../machine/index.ts';
import { commands } from './commands.ts';
import { nextOf } from './view/next.ts';

const source = join(import.meta.dirname, '..');

/** Commands in the texts of the sources, up to where the sentence goes on. */
function printed(): { file: string; command: string; options: string[] }[] {
  const files = globSync('{cli,runtime,machine,store}/**/*.ts', { cwd: source });
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(join(source, file), 'utf8').matchAll(/\bstepfast ([a-z]+)((?: [^;,'`\n]*)?)/g)].map(
        ([, command = '', rest = '']) => ({
          file,
          command,
          options: [...rest.matchAll(/(?<= )--([a-z-]+)/g)].map(([, name = '']) => name),
        }),
      ),
    )
    .filter(({ options }) => options.length > 0);
}

async function unknownIn(command: string, options: readonly string[]): Promise<string[]> {
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

const base: Status = {
  run: 'w-20261115-k3f9x2ab',
  status: 'running',
  step: 'a',
  stepType: 'loop',
  phase: { current: 1, total: 1, name: 'a', status: 'in_progress' },
  agent: null,
  progress: { currentStep: 1, totalSteps: 1 },
  next: '',
};
const at = 'k3f9x2ab:a#1';
const waits = (kind: NonNullable<Status['waiting']>['for'], by = 'human'): Status => ({
  ...base,
  at,
  status: 'waiting',
  waiting: { for: kind, by, what: 'the turns are used up' },
});

test.each<[string, Status]>([
  ['tasks are ready', { ...base, ready: ['t1'] }],
  ['every task is held', base],
  ['a held task waits', { ...base, status: 'waiting', held: [{ task: 't1', at, waiting: 'review' }] }],
  ['work is open', { ...base, at }],
  ['tasks are wanted', { ...base, at, next: 'Set the tasks' }],
  ['a context action comes first', { ...base, at, contextAction: '/clear' }],
  ['gates run', { ...base, at, checking: { id: 'x', deadline: 0 } }],
  ['a person reviews', waits('review')],
  ['an agent reviews', waits('review', 'critic')],
  ['a question is open', waits('question')],
  ['a budget is used up', waits('budget')],
  ['it is stuck', waits('blocked')],
  ['it is complete', { ...base, status: 'complete' }],
])('what to type where %s is accepted', async (_, status) => {
  for (const worker of [true, false])
    for (const run of [undefined, 'k3f9x2ab'])
      for (const typed of nextOf(status, { run, worker }).type) {
        const [, command = ''] = typed.split(' ');
        const options = [...typed.matchAll(/(?<= )--([a-z-]+)/g)].map(([, name = '']) => name);
        expect(await unknownIn(command, options)).toEqual([]);
        // With several live runs each names the one it means.
        if (run !== undefined) expect(typed).toContain(run);
      }
});
