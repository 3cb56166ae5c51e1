/**
 * npm run fuzz -- definition [--runs 20000] [--seed N]
 * Feeds mutated workflow files to the parser. Deterministic by seed, which is 1, or a new one each time with
 * STEPFAST_RANDOM_SEEDS=1; exits 1 with the input saved to reports/.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compileCondition,
  hashDefinition,
  parseWorkflow,
  workflowJsonSchema,
} from '../../src/definition/index.ts';
import { StepfastError } from '../../src/errors.ts';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { chosenSeed } from '../../test/kit/seed.ts';
import { Dice } from '../../test/properties/dice.ts';
import { options } from '../options.ts';

const slowMs = 250;
const root = join(import.meta.dirname, '..', '..');

const { runs, seed: asked, names } = options({ runs: 20_000, seed: '' });
const seed = chosenSeed(asked);
if (names[0] !== 'definition' || !Number.isFinite(seed)) {
  console.error('usage: npm run fuzz -- definition [--runs N] [--seed N]');
  process.exit(2);
}

const samples = [
  `name: small
description: Two steps
steps:
  - id: plan
    type: action
    context: clear
    instructions: Write {project_root}/PLAN.md for {input.issue}
    gate: [{ exists: PLAN.md }, { condition: 'outputs.plan != null && iteration < 3' }]
    review: { by: human, on_pivot: plan }
  - id: polish
    type: ralph
    n: 3
    until: [{ run: npm run lint, timeout: 60, rerun: true }]
    instructions: |
      Improve the weakest part of {outputs.plan}.
      This is round {iteration}.
inputs: { issue: { type: string, required: true } }
`,
  `name: loops
description: A loop
required_reading: ["@docs/conventions.md"]
key_reminders: [Run the tests]
variables: { plan_id: auth, count: 3, strict: true }
briefing: { budget: 2500 }
agents:
  reviewer: { description: Reviews, cannot: [Write, Edit] }
loops:
  build:
    - &first { id: implement, instructions: "Implement {task.title}.", on_fail: skip, attempts: 2 }
    - id: verify
      agent: reviewer
      context: compact
      instructions: Review {task.id}
steps:
  - { id: build, type: loop, parallel: 3 }
  - { id: done, type: action, instructions: Finish }
transitions: [{ from: build, to: done, context: clear }]
`,
  `{"id": "default", "critical_artifacts": {"always_load": [{"id": "state", "type": "json", "path": "runs/{run_id}.json",
"required": true, "reload_triggers": ["session_start", "phase_transition:a->b"]}], "conditional_load": [{"id": "spec",
"type": "markdown", "path_from_state": "artifacts.spec", "condition": "state.artifacts.spec !== null"}]}}`,
  `name: second
description: What the engine does by itself
notify: [waiting, ended]
inputs: { level: { enum: [minor, major], pattern: '[a-z]+', default: minor } }
worktree: { setup: npm ci, copy: [.env, 'config/*.local'] }
steps:
  - { id: find, type: run, run: npm outdated --json, output: json, idempotent: true, timeout: 9 }
  - id: triage
    type: action
    instructions: Choose
    output: json
    schema: { type: object, required: [list], properties: { list: { type: array, items: { anyOf: [{ type: string }, { const: 1 }] } } } }
  - { id: all, type: loop, when: 'size(outputs.triage.list) > 0', tasks: { output: triage.list, min: 1, max: 9, locked: true } }
loops:
  all:
    - { id: red, instructions: Test, gate: [{ run: npm test, expect: fail, contains: AssertionError, baseline: true }] }
    - { id: green, instructions: Fix, when: task.id != null, on_fail: { retry: 2, then: skip } }
finally: [{ id: clean, run: docker compose down, timeout: 60 }]
`,
  `name: heir
extends: small
remove: [polish]
steps:
  - id: plan
    budget: { turns: 5 }
  - id: next
    type: action
    after: plan
    instructions: Go on
`,
];
for (const folder of ['workflows', 'examples/workflows'].map((each) => join(root, each))) {
  for (const file of readdirSync(folder)) {
    if (/\.ya?ml$/.test(file)) samples.push(readFileSync(join(folder, file), 'utf8'));
  }
}

const vocabulary = [...words(workflowJsonSchema())];
const nasty = [
  '__proto__: { polluted: true }',
  'constructor: { prototype: { polluted: true } }',
  '<<: *first',
  '*first',
  '&first',
  '!!js/function x',
  '!<tag:x> y',
  '? [a]\n: b',
  '[[[[[[[[',
  '{{{{{{{{',
  '{a: {a: {a: {',
  '- - - - - - -',
  '|\n  x',
  '>-\n  y',
  '"\\ud800"',
  "''",
  '~',
  '.nan',
  '-.inf',
  '0x1F',
  '1e400',
  '99999999999999999999',
  '-0',
  '%YAML 1.1\n---',
  '---\na: b\n...',
  '\t',
  '\r\n',
  '\u0000',
  '\ufeff',
  '\u2028',
  '\ud800',
  '{task.id}',
  '{{x}}',
  '{input.}',
  '{outputs.plan.x}',
  '@docs/x.md',
  '"@x"',
  ': :',
  '#',
  '- ',
  'a: b: c',
  "condition: 'state.a.b[0].exists(x, x == 1)'",
  "condition: '((((((((((((((((((((1))))))))'",
  'condition: "[1,2].all(x, [1].all(y, true))"',
  "condition: 'has(state.constructor)'",
  'extends: small',
  'extends: heir',
  'remove: [plan]',
  'after: plan',
  'loop: build',
  'rerun: true',
  'baseline: true',
];

function words(schema: unknown, into = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const each of schema) words(each, into);
  else if (typeof schema === 'object' && schema !== null) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties' && typeof value === 'object' && value !== null)
        for (const name of Object.keys(value)) into.add(name);
      if (key === 'enum' && Array.isArray(value)) for (const each of value) into.add(String(each));
      words(value, into);
    }
  }
  return into;
}

type Random = (below: number) => number;
const pick = <T>(random: Random, from: readonly [T, ...T[]] | readonly T[]): T => {
  const found = from[random(from.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};

const mutations: ((text: string, random: Random) => string)[] = [
  (text, random) =>
    splice(text, random(text.length + 1), 1, String.fromCharCode(random(2) ? random(128) : random(0x10000))),
  (text, random) => splice(text, random(text.length + 1), random(8), ''),
  (text, random) => splice(text, random(text.length + 1), 0, pick(random, nasty)),
  (text, random) => onLines(text, (lines) => lines.splice(random(lines.length), 1)),
  (text, random) => onLines(text, (lines) => lines.splice(random(lines.length), 0, pick(random, lines))),
  (text, random) =>
    onLines(text, (lines) =>
      lines.splice(random(lines.length), 0, ' '.repeat(random(9)) + pick(random, nasty)),
    ),
  (text, random) =>
    onLines(text, (lines) => {
      const [a, b] = [random(lines.length), random(lines.length)];
      [lines[a], lines[b]] = [lines[b] ?? '', lines[a] ?? ''];
    }),
  (text, random) => {
    const found = [...text.matchAll(/[A-Za-z_][\w-]*/g)];
    if (found.length === 0) return text;
    const { index, 0: word } = pick(random, found);
    return splice(text, index, word.length, pick(random, vocabulary));
  },
  (text, random) =>
    onLines(text, (lines) =>
      lines.splice(
        random(lines.length),
        0,
        `${' '.repeat(random(9))}${pick(random, vocabulary)}: ${pick(random, [...vocabulary, ...nasty])}`,
      ),
    ),
  (text, random) => {
    const other = pick(random, samples);
    const from = random(other.length);
    return splice(text, random(text.length + 1), random(40), other.slice(from, from + random(200)));
  },
];
const openings = [
  ...[
    '[',
    '{',
    '- ',
    '? ',
    'a: [',
    '[{a: ',
    '{? ',
    '((',
    '"',
    "'",
    '|',
    '&a ',
    '*a ',
    ', ',
    ': ',
    '\t',
    '\n-',
  ],
  '#\n',
];
const bombs: ((random: Random) => string)[] = [
  (random) =>
    pick(random, openings)
      .repeat(1 + random(60_000))
      .slice(0, 256 * 1024),
  (random) => Array.from({ length: 1 + random(400) }, (_, depth) => `${'  '.repeat(depth)}a:`).join('\n'),
  (random) =>
    `a0: &a0 [x, x]\n${Array.from({ length: 2 + random(40) }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(1 + random(9))}]`).join('\n')}`,
  (random) => `${pick(random, samples)}\nkey_reminders:\n  - ${'x{y} '.repeat(random(50_000))}`,
  (random) =>
    Array.from(
      { length: random(20_000) },
      (_, n) => `${pick(random, ['k', 'step', '- id: s'])}${n}: ${n}`,
    ).join('\n'),
  (random) =>
    `name: many\ndescription: d\nsteps:\n${Array.from({ length: random(2_000) }, (_, n) => `  - { id: s${random(n + 1)}, type: ${pick(random, ['action', 'loop', 'ralph', 'x'])}, instructions: '{outputs.s${n}}', after: s${n - 1} }`).join('\n')}`,
  (random) =>
    Array.from({ length: random(3_000) }, () =>
      String.fromCodePoint(random(2) ? random(0xd800) : 0xe000 + random(0x102000)),
    ).join(''),
  (random) => 'x'.repeat(random(400_000)),
];

const splice = (text: string, at: number, remove: number, insert: string): string =>
  text.slice(0, at) + insert + text.slice(at + remove);

function onLines(text: string, change: (lines: string[]) => void): string {
  const lines = text.split('\n');
  change(lines);
  return lines.join('\n');
}

function createInput(random: Random): string {
  if (random(400) === 0) return pick(random, bombs)(random);
  let text = pick(random, samples);
  const count = 1 + (random(3) === 0 ? random(6) : 0);
  for (let done = 0; done < count; done++) text = pick(random, mutations)(text, random);
  return text;
}

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const fingerprint = (): string =>
  prototypes.map((each) => Reflect.ownKeys(each).map(String).join()).join(';');
const clean = fingerprint();

const parse = (text: string): ReturnType<typeof parseWorkflow> =>
  parseWorkflow(text, {
    file: 'main.yaml',
    findBase: (name) =>
      name === 'heir' ? { text, file: 'main.yaml' } : { text: samples[0] ?? '', file: `${name}.yaml` },
  });

/** Describes a parser bug for this text; undefined if there is none. */
function judge(text: string, result: ReturnType<typeof parseWorkflow>): string | undefined {
  const { definition, hash, diagnostics } = result;
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  if ((definition === undefined) !== errors.length > 0) return 'a definition and errors, or neither';
  if (diagnostics.length > 200) return `${diagnostics.length} diagnostics`;
  for (const { line, column, message, code } of diagnostics) {
    if (code === 'yaml_unreadable') return `the YAML library throws: ${message}`;
    if (!(line >= 1 && column >= 1 && message !== '')) return `a diagnostic at ${line}:${column}`;
  }
  if (definition === undefined) return undefined;
  const plain = JSON.parse(JSON.stringify(definition));
  if (JSON.stringify(plain) !== JSON.stringify(definition) || hashDefinition(plain) !== hash)
    return 'the definition is not plain JSON';
  if (parse(text).hash !== hash) return 'the hash changes from one call to the next';
  for (const gate of definition.steps.flatMap((step) => [...(step.gate ?? []), ...(step.until ?? [])])) {
    if (gate.condition === undefined) continue;
    const condition = compileCondition(gate.condition);
    if (!condition.ok) return 'a condition that was accepted does not compile';
    try {
      condition.evaluate({ iteration: 1, outputs: { plan: 'x' }, state: { a: { b: [1] } } });
    } catch (error) {
      if (!(error instanceof StepfastError)) return `a condition throws ${String(error)}`;
    }
  }
  return undefined;
}

const started = performance.now();
const tally = { runs: 0, valid: 0, errors: 0, slowestMs: 0, failures: 0 };
for (; tally.runs < runs; tally.runs++) {
  // Each input has its own seed, so that it can be replayed alone.
  const dice = new Dice(seed + tally.runs);
  const text = createInput((below) => dice.roll(below));
  const problem = attempt(text);
  if (problem !== undefined) fail(text, problem);
  if (tally.runs % 5_000 === 4_999)
    console.log(`${tally.runs + 1} runs, ${Math.round((performance.now() - started) / 1000)} s`);
}
console.table(tally);
console.log(
  JSON.stringify({
    target: 'definition',
    seed,
    seconds: Math.round((performance.now() - started) / 1000),
    ...tally,
  }),
);
if (tally.failures > 0) process.exitCode = 1;

function attempt(text: string): string | undefined {
  try {
    const before = performance.now();
    const result = parse(text);
    const took = performance.now() - before;
    tally.slowestMs = Math.max(tally.slowestMs, Math.round(took));
    if (result.definition === undefined) tally.errors++;
    else tally.valid++;
    if (took > slowMs && slowEveryTime(text)) return `one call takes ${Math.round(took)} ms`;
    if (fingerprint() !== clean) return 'a prototype has changed';
    return judge(text, result);
  } catch (error) {
    return `it throws ${error instanceof Error ? error.stack : String(error)}`;
  }
}

/** Whether it costs ten times a fixed piece of work or more, however busy the machine is. */
function slowEveryTime(text: string): boolean {
  for (let again = 0; again < 5; again++) {
    const spent = costMeter();
    parse(text);
    if (spent() < 10) return false;
  }
  return true;
}

function fail(text: string, problem: string): void {
  if (++tally.failures > 20) return;
  mkdirSync(join(root, 'reports'), { recursive: true });
  const own = seed + tally.runs;
  const file = join('reports', `fuzz-${own}.yaml`);
  writeFileSync(join(root, file), text);
  console.error(`${problem}\n  input: ${file}\n  npm run fuzz -- definition --runs 1 --seed ${own}`);
}
