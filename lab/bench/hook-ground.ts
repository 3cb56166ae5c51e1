import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isRefused, type Request } from '../../src/runtime/index.ts';
import { renewMarks } from '../../src/runtime/marked-engine.ts';
import { createTestProject } from '../../src/testing/index.ts';

export const shim = join(import.meta.dirname, '..', '..', 'hooks', 'stepfast-hook.sh');

const feature = `name: feature
description: Plans and builds
required_reading: ["@docs/auth.md", "@docs/style.md"]
key_reminders: [Run the tests after each component, Tokens never reach the log]
loops:
  build: [{ id: code, instructions: "Build {task.title}." }, { id: check, instructions: Look at it once more. }]
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: loop }
  - { id: end, type: action, instructions: Write the notes for the release. }
`;

/** The bundled workflow, customized by a project. */
const go = `name: go
extends: go
steps:
  - { id: do, gate: [{ run: "true" }] }
  - { id: end, type: action, instructions: Write it up. }
`;

export const kinds = ['plain', 'go'] as const;
export type Kind = (typeof kinds)[number];

export interface Fired {
  ms: number;
  stdout: string;
}

/** A project with a live run, and hooks that are started as the host starts them. */
export interface Ground {
  root: string;
  run: string;
  at: string;
  fire(mark: string, event: string, payload: object, host?: string): Fired;
  [Symbol.dispose](): void;
}

export async function createGround(kind: Kind): Promise<Ground> {
  const text = (name: string): string => `# ${name}\n`;
  const project = createTestProject({
    '.stepfast/workflows/feature.yaml': feature,
    '.stepfast/workflows/go.yaml': go,
    'docs/auth.md': text('auth'),
    'docs/style.md': text('style'),
    'docs/other.md': text('other'),
    'src/known.ts': 'export const known = 1;\n',
  });
  const runtime = project.runtime();
  const who = { session: 'tools' };
  const name = kind === 'go' ? 'go' : 'feature';
  project.trust(name);
  const summary = 'Log in with a passkey';
  const inputs = kind === 'go' ? { task: summary } : {};
  const begun = await runtime.start({ workflow: name, summary, inputs }, who);
  if (isRefused(begun.reply)) throw new Error(JSON.stringify(begun.reply));
  const { run = '' } = begun;
  const call = async (request: Request): Promise<string> => {
    const { reply } = await runtime.call(request, who, { run });
    if (isRefused(reply)) throw new Error(JSON.stringify(reply));
    return reply.at ?? '';
  };
  const at = kind === 'go' ? await checked() : await built();
  for (let index = 0; index < 10; index += 1) {
    const reason = 'a reason for it. '.repeat(8);
    await call({ type: 'note', kind: 'decision', text: `Decision ${index}: ${reason}` });
  }
  await renewMarks(runtime.engine, runtime.project.directory);
  const { root, env } = project;
  return { root, run, at, fire, [Symbol.dispose]: () => project[Symbol.dispose]() };

  async function built(): Promise<string> {
    await call({ type: 'advance', output: 'Three tasks: the server side, the form, the fallback.' });
    const tasks = ['server', 'form', 'fallback'].map((id) => ({ id, title: `The ${id} with passkeys` }));
    await call({ type: 'setTasks', loop: 'build', tasks });
    await call({ type: 'advance', output: 'It works; 11 tests.' });
    return await call({ type: 'advance', output: 'Looked at it: sound.' });
  }

  async function checked(): Promise<string> {
    const now = await call({
      type: 'advance',
      output: 'The server side, the form and the fallback are there.',
    });
    const view = await runtime.engine.view(run);
    if (!view?.state.outputs.do?.receipts.some(({ pass }) => pass)) throw new Error('the gate did not pass');
    return now;
  }

  function fire(mark: string, event: string, payload: object, host = 'claude-code'): Fired {
    const common = { cwd: root, transcript_path: join(env.HOME ?? '', 'none.jsonl'), hook_event_name: event };
    const input = JSON.stringify({ ...common, ...payload });
    const started = performance.now();
    const { stdout, stderr, status } = spawnSync('/bin/sh', [shim, mark, host, event], {
      cwd: root,
      env,
      input,
      encoding: 'utf8',
    });
    const ms = performance.now() - started;
    // A host may show what is said with status 2 to the person.
    const isQuiet = status === 0 && stderr === '';
    if (!isQuiet && !(status === 2 && host === 'copilot'))
      throw new Error(`${event} ${mark}: ${status} ${stderr}`);
    return { ms, stdout };
  }
}
