/** `stepfast prime` from end to end, file reads included: a run with a long history against a small one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CallerIdentity,
  isRefused,
  type LocalRuntime,
  openRuntime,
} from '../../../src/runtime/index.ts';
import { median, rounded } from '../../figures.ts';

export interface PrimeFigures {
  tasks: number;
  megabytes: number;
  smallMs: number;
  largeMs: number;
  largeToSmallRatio: number;
}

const workflow = `name: long
description: Many tasks
critical_artifacts:
  always_load:
    - { id: plan, type: markdown, path: PLAN.md }
loops:
  build: [{ id: code, instructions: "Build {task.title}." }]
steps:
  - { id: build, type: loop }
  - { id: end, type: action, instructions: End it. }
`;
const who: CallerIdentity = { session: 'bench' };
const rounds = 15;

/** `tasks` of a loop are done with `megabytes` of outputs together, all but the last. */
export async function benchPrime({ tasks = 1000, megabytes = 10 } = {}): Promise<PrimeFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-prime-'));
  try {
    const small = await createRun(join(directory, 'small'), 3, 3000);
    const large = await createRun(join(directory, 'large'), tasks, Math.ceil((megabytes * 1e6) / tasks));
    const times: Record<'small' | 'large', number[]> = { small: [], large: [] };
    // Interleaved, the first round not counted.
    for (let round = 0; round <= rounds; round += 1)
      for (const [name, root] of [['small', small] as const, ['large', large] as const]) {
        const ms = primeMs(root);
        if (round > 0) times[name].push(ms);
      }
    const [smallMs, largeMs] = [rounded(median(times.small), 1), rounded(median(times.large), 1)];
    const ratio = Number((largeMs / smallMs).toFixed(2));
    return { tasks, megabytes, smallMs, largeMs, largeToSmallRatio: ratio };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function createRun(root: string, tasks: number, bytes: number): Promise<string> {
  mkdirSync(join(root, '.stepfast', 'workflows'), { recursive: true });
  mkdirSync(join(root, 'home'));
  writeFileSync(join(root, '.stepfast', 'workflows', 'long.yaml'), workflow);
  writeFileSync(join(root, 'PLAN.md'), '# The plan\n');
  execFileSync('git', ['init', '-q'], { cwd: root });
  const runner = { program: process.execPath, args: [] };
  const runtime = openRuntime({ cwd: root, env: {}, home: join(root, 'home'), runner });
  const { run = '' } = await runtime.start({ workflow: 'long' }, who);
  const names = Array.from({ length: tasks }, (_, index) => ({ id: `t${index}`, title: `Part ${index}` }));
  await must(runtime, { type: 'setTasks', loop: 'build', tasks: names }, run);
  for (let index = 0; index < tasks - 1; index += 1) {
    const output = `Part ${index} is done. `.repeat(Math.ceil(bytes / 18)).slice(0, bytes);
    await must(runtime, { type: 'advance', output }, run);
  }
  return root;
}

async function must(
  runtime: LocalRuntime,
  request: Parameters<LocalRuntime['call']>[0],
  run: string,
): Promise<void> {
  const { reply } = await runtime.call(request, who, { run });
  if (isRefused(reply)) throw new Error(`${request.type}: ${JSON.stringify(reply)}`);
}

function primeMs(root: string): number {
  const cli = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli.js');
  const started = performance.now();
  const text = execFileSync(process.execPath, [cli, 'prime', '--force'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: join(root, 'home') },
    encoding: 'utf8',
  });
  if (!text.includes('# The plan')) throw new Error(`prime did not load the plan: ${text.slice(0, 200)}`);
  return performance.now() - started;
}
