/**
 * Cost and correctness of briefings: `npm run bench -- context [--runs N]`. Random runs are briefed in this process, and
 * `stepfast prime` is started in a run with a long history and in a small one.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { getTokenizer } from '@anthropic-ai/tokenizer';
import fc from 'fast-check';
import { compileBriefing } from '../../src/context/index.ts';
import { isRefused, type Request } from '../../src/runtime/index.ts';
import { createTestProject, type TestProject } from '../../src/testing/index.ts';
import { randomCap, randomSource } from '../../test/properties/briefings.ts';
import { Dice } from '../../test/properties/dice.ts';
import { missingIn } from '../../test/properties/whole.ts';
import { workflow } from '../../test/properties/workflows.ts';
import { median, printTable, quantile, rounded, takeTurns, timed } from '../figures.ts';
import { options } from '../options.ts';

/** Correction factor, because the published tokenizer belongs to an older model. */
const margin = 1.3;
const cli = join(import.meta.dirname, '../../dist/cli.js');
const long = `name: long
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

export async function bench(): Promise<object> {
  const { runs } = options({ runs: 10_000 });
  // The documented history length, or a short one for a smoke test.
  const [tasks, megabytes] = runs < 10_000 ? [200, 2] : [1000, 10];
  const figures = { ...compileRandom(runs), tasks, megabytes, ...(await measurePrime(tasks, megabytes)) };
  printTable(Object.entries(figures));
  return figures;
}

function compileRandom(runs: number): object {
  const tokenizer = getTokenizer();
  const times: number[] = [];
  /** Briefings over the cap, by tokenizer instead of estimate, and those that lack something of the first four sections. */
  const found = { overBudget: 0, notWhole: 0, fullest: 0 };
  for (const [seed, definition] of fc.sample(workflow, { numRuns: runs, seed: 4 }).entries()) {
    const source = randomSource(definition, seed);
    const cap = randomCap(new Dice(seed));
    const started = performance.now();
    const briefing = compileBriefing(source, cap);
    times.push(performance.now() - started);
    const counted = tokenizer.encode(briefing.markdown.normalize('NFKC'), 'all').length * margin;
    const tokens = cap.tokens === undefined ? 0 : counted / cap.tokens;
    const characters = cap.characters === undefined ? 0 : briefing.markdown.length / cap.characters;
    const missing = missingIn(briefing, source);
    const isOver = tokens > 1 || characters > 1;
    if (isOver) console.error(`seed ${seed} exceeds its budget: ${tokens} tokens, ${characters} characters`);
    if (missing.length > 0) console.error(`seed ${seed} lacks ${missing.join('; ')}`);
    found.overBudget += Number(isOver);
    found.notWhole += Number(missing.length > 0);
    found.fullest = rounded(Math.max(found.fullest, tokens));
  }
  tokenizer.free();
  const [compileMs, compileP99Ms] = [0.5, 0.99].map((share) => rounded(quantile(times, share)));
  return { runs, ...found, compileMs, compileP99Ms };
}

async function measurePrime(tasks: number, megabytes: number): Promise<object> {
  using small = await createRun(3, 3000);
  using large = await createRun(tasks, Math.ceil((megabytes * 1e6) / tasks));
  const prime = ({ root, env }: TestProject) =>
    timed(() => {
      const args = [cli, 'prime', '--force'];
      const text = execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
      if (!text.includes('# The plan')) throw new Error(`prime did not load the plan: ${text.slice(0, 200)}`);
    });
  const times = await takeTurns(15, { small: () => prime(small), large: () => prime(large) });
  const [smallMs, largeMs] = [rounded(median(times.small), 1), rounded(median(times.large), 1)];
  return { smallMs, largeMs, largeToSmallRatio: rounded(largeMs / smallMs) };
}

/** All tasks but the last are done, each with an output of so many bytes. */
async function createRun(tasks: number, bytes: number): Promise<TestProject> {
  const project = createTestProject({ '.stepfast/workflows/long.yaml': long, 'PLAN.md': '# The plan\n' });
  const runtime = project.runtime();
  const { run } = await project.startRun('long');
  const must = async (request: Request): Promise<void> => {
    const { reply } = await runtime.call(request, { session: 'bench' }, { run });
    if (isRefused(reply)) throw new Error(`${request.type}: ${JSON.stringify(reply)}`);
  };
  const names = Array.from({ length: tasks }, (_, index) => ({ id: `t${index}`, title: `Part ${index}` }));
  await must({ type: 'setTasks', loop: 'build', tasks: names });
  for (let index = 0; index < tasks - 1; index += 1) {
    const output = `Part ${index} is done. `.repeat(Math.ceil(bytes / 18)).slice(0, bytes);
    await must({ type: 'advance', output });
  }
  return project;
}
