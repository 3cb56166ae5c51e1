import { join } from 'node:path';
import { createTestProject, type TestFiles } from '../../../src/testing/index.ts';
import { openTerminal } from '../../kit/terminal.ts';

export const cli = join(import.meta.dirname, '../../../dist/cli.js');

export const workflow = `name: feature
description: Plan it, build it in tasks, close it
budget: { turns: 40 }
loops:
  build:
    - { id: code, title: Write it, instructions: Write the code., gate: [{ run: sh check.sh }] }
    - { id: check, title: Check it, instructions: Check it. }
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it with care., review: { by: human } }
  - { id: build, type: loop, title: Build }
  - { id: close, type: action, title: Close, instructions: Close it., context: clear }
`;

const files = {
  '.stepfast/workflows/feature.yaml': workflow,
  'check.sh':
    'echo "checking"; echo "FAIL src/add.test.ts > adds"; echo "expected 3 to be 4"; test -f good\n',
};

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** A project with its dashboard, as a person starts it in a terminal. */
export async function openStage(more: TestFiles = {}) {
  const project = createTestProject({ ...files, ...more });
  project.trust('feature');
  const runtime = project.runtime();
  const terminal = await openTerminal({
    directory: join(project.root, '..'),
    cwd: project.root,
    env: { PATH: process.env.PATH ?? '', HOME: project.home, LANG: 'C.UTF-8' },
    columns: 200,
    rows: 30,
    command: [process.execPath, cli, 'ui', '--no-open'],
  });
  const link = async (): Promise<string> => {
    await terminal.waitFor(/http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}/);
    return [...(await terminal.screen()).matchAll(/http:\S+token=[\w-]{43}/g)].at(-1)?.[0] ?? '';
  };
  return {
    project,
    runtime,
    terminal,
    /** Of a run by a session of its own. */
    async start(summary: string) {
      const { reply, run = '' } = await runtime.start({ workflow: 'feature', summary }, { session: summary });
      const at = 'at' in reply ? (reply.at ?? '') : '';
      const call = (request: Parameters<typeof runtime.call>[0], who: object = { session: summary }) =>
        runtime.call(request, who, { run, waitMs: 60_000 });
      return { run, at, call };
    },
    link,
    async newLink() {
      const before = await link();
      await terminal.press('Enter');
      for (;;) {
        const now = await link();
        if (now !== before) return now;
      }
    },
    async [Symbol.asyncDispose]() {
      await terminal.close();
      project[Symbol.dispose]();
    },
  };
}
