import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isRefused, type Request } from '../../src/runtime/index.ts';
import { renewMarks } from '../../src/runtime/marked-engine.ts';
import { createTestFolder, createTestProject, type TestProject } from '../../src/testing/index.ts';

const shim = join(import.meta.dirname, '../../hooks/stepfast-hook.sh');

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
export interface Ground extends Disposable {
  root: string;
  run: string;
  at: string;
  fire(mark: string, event: string, payload: object, host?: string): Fired;
}

export async function createGround(kind: Kind): Promise<Ground> {
  const docs = ['auth', 'style', 'other'].map((name) => [`docs/${name}.md`, `# ${name}\n`]);
  const project = createTestProject({
    '.stepfast/workflows/feature.yaml': feature,
    '.stepfast/workflows/go.yaml': go,
    'src/known.ts': 'export const known = 1;\n',
    ...Object.fromEntries(docs),
  });
  const { root, env } = project;
  const runtime = project.runtime();
  const who = { session: 'tools' };
  const name = kind === 'go' ? 'go' : 'feature';
  project.trust(name);
  const summary = 'Log in with a passkey';
  const inputs = kind === 'go' ? { task: summary } : {};
  const { run = '' } = await runtime.start({ workflow: name, summary, inputs }, who);
  const call = async (request: Request): Promise<string> => {
    const { reply } = await runtime.call(request, who, { run });
    if (isRefused(reply)) throw new Error(JSON.stringify(reply));
    return reply.at ?? '';
  };
  let at = await call({ type: 'advance', output: 'Three tasks: the server side, the form, the fallback.' });
  if (kind === 'plain') {
    const tasks = ['server', 'form', 'fallback'].map((id) => ({ id, title: `The ${id} with passkeys` }));
    await call({ type: 'setTasks', loop: 'build', tasks });
    await call({ type: 'advance', output: 'It works; 11 tests.' });
    at = await call({ type: 'advance', output: 'Looked at it: sound.' });
  }
  for (let index = 0; index < 10; index += 1) {
    const reason = 'a reason for it. '.repeat(8);
    await call({ type: 'note', kind: 'decision', text: `Decision ${index}: ${reason}` });
  }
  await renewMarks(runtime.engine, runtime.project.directory);
  return {
    ...{ root, run, at, [Symbol.dispose]: () => project[Symbol.dispose]() },
    fire(mark, event, payload, host = 'claude-code') {
      const common = { cwd: root, transcript_path: join(env.HOME ?? '', 'none'), hook_event_name: event };
      return fired([mark, host, event], { root, env }, { ...common, ...payload });
    },
  };
}

/** Milliseconds of a hook after a write, in a folder of a project without runs. */
export function createIdle(): Disposable & { fire(host?: string): number } {
  const project = createTestFolder({ 'packages/web/a.txt': 'a' });
  project.git('init', '-q');
  const place = { root: join(project.root, 'packages/web'), env: project.env };
  return {
    fire: (host = 'claude-code') => fired(['after_tool-write', host, 'PostToolUse'], place, {}).ms,
    [Symbol.dispose]: () => project[Symbol.dispose](),
  };
}

function fired(
  args: readonly string[],
  { root, env }: Pick<TestProject, 'root' | 'env'>,
  payload: object,
): Fired {
  const started = performance.now();
  const options = { cwd: root, env, input: JSON.stringify(payload), encoding: 'utf8' } as const;
  const { stdout, stderr, status } = spawnSync('/bin/sh', [shim, ...args], options);
  const ms = performance.now() - started;
  // Copilot shows the user what a hook writes when it exits with 2.
  const isQuiet = status === 0 && stderr === '';
  if (!isQuiet && !(status === 2 && args[1] === 'copilot')) throw new Error(`${args}: ${status} ${stderr}`);
  return { ms, stdout };
}

/** Milliseconds of a Node that does nothing: the unit of all figures. */
export function bareNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - started;
}
