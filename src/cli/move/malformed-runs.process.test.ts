import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Dice } from '../../../test/properties/dice.ts';
import { hashDefinition } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import type { Definition } from '../../machine/index.ts';
import { verifyRun } from '../../runtime/transfer/verify-run.ts';
import { encodeLine, genesis } from '../../store/file/journal.ts';
import { createTestFolder } from '../../testing/index.ts';
import type { Archive } from '../archive.ts';

const workflow = `name: w
description: x
inputs: { issue: { type: string, default: "1" } }
variables: { plan_id: p }
key_reminders: [a]
required_reading: ["@docs/a.md"]
critical_artifacts:
  always_load: [{ id: plan, type: markdown, path: docs/plan.md }, { id: g, type: work_plugin, command: /x }]
steps:
  - { id: a, type: action, instructions: "x {input.issue}", gate: [{ exists: docs/a.md }] }
  - { id: l, type: loop, instructions: y }
  - { id: r, type: ralph, n: 2, instructions: z }
loops:
  l: [{ id: s1, instructions: q }, { id: s2, instructions: q2 }]
`;
const env = { STEPFAST_AGENT: '1', STEPFAST_SESSION: 's1', PATH: process.env.PATH };
const mutants = 1000;
const deep = { opening: 1, digest: 2 };
const strange: readonly unknown[] = [
  ...[null, 0, -1, 1e308, 8.7e15, '', true, '__proto__', 'constructor', '../../x', 'x\u001b[2J'],
  ...['a'.repeat(300), [], {}, [null], [[]], { a: null }, { length: 3 }, deep, { __proto: {} }],
];

// Here a journal holds arbitrary JSON.
type Json = Record<string, unknown>;
type Batch = Parameters<typeof encodeLine>[0];
interface Line {
  now: number;
  machine: string;
  nonce: string;
  pinned?: { hash: string; definition: Definition };
  events: Json[];
}

test('a malformed run is rejected, or every command that reads it works', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml': workflow,
    'docs/a.md': 'x',
    'docs/plan.md': 'y',
  });
  const act = async (...args: string[]) => project.run(args, { env });
  const { run }: { run: string } = JSON.parse((await act('start', 'w', '--json')).stdout);
  for (const args of [
    ['prime'],
    ['note', 'decision', 'd1'],
    ['note', 'variable', 'v', '--key', 'k'],
    ['note', 'reading', 'docs/a.md'],
    ['todo', 'my list'],
    ['advance', 'out a', '--wait', '20'],
    ['tasks', 'l', '[{"id":"t1","title":"T1"},{"id":"t2","title":"T2","depends_on":["t1"]}]'],
    ['advance', 'o1'],
    ['ask', 'q?'],
  ])
    await act(...args);
  const folder = join(project.root, '.stepfast/runs', run);
  const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8');
  const honest: Line[] = journal
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(honest.flatMap(({ events }) => events.map(({ type }) => type))).toContain('gates.finished');
  expect(() => verify(run, honest)).not.toThrow();

  const dice = new Dice(7);
  let taken = 0;
  for (let index = 0; index < mutants; index += 1) {
    const lines = structuredClone(honest);
    const what = mutate(lines, dice);
    if (!isTaken(run, lines)) continue;
    taken += 1;
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    writeFileSync(join(folder, 'journal.jsonl'), sealed(run, lines));
    // One random command per case keeps the test short; each command still runs many times.
    for (const args of [
      ['runs'],
      dice.pick([
        ['status', run],
        ['log', run],
        ['prime', run],
        ['sessions', run],
      ]),
    ]) {
      const { code, stdout, stderr } = await act(...(args ?? []));
      expect(`${what}: ${args} ${code} ${stderr}`).not.toMatch(/ (?:70|99) |\w*Error\b/);
      expect(stdout + stderr, what).not.toContain('\u001b');
    }
  }
  expect(taken).toBeGreaterThan(mutants / 50);
  expect(taken).toBeLessThan(mutants / 2);
});

/** Changes or removes one value of the workflow or of a batch. */
function mutate(lines: Line[], dice: Dice): string {
  const line = dice.pick(lines);
  const definition = lines[0]?.pinned?.definition;
  const root = (dice.one(3) ? definition : dice.one(6) ? line : line?.events) as unknown as Json;
  const path = dice.pick(pathsIn(root).filter((each) => each.at(-1) !== 'type')) ?? [];
  const owner = path.slice(0, -1).reduce<Json>((at, key) => at[key] as Json, root);
  const key = path.at(-1) ?? '';
  const value = dice.pick(strange);
  if (dice.one(5)) delete owner[key];
  else owner[key] = value;
  return `${path.join('.')} = ${JSON.stringify(value)}`;
}

const pathsIn = (value: unknown): string[][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) => [[key], ...pathsIn(each).map((path) => [key, ...path])]);

function isTaken(run: string, lines: Line[]): boolean {
  try {
    verify(run, lines);
    return true;
  } catch (error) {
    if (error instanceof StepfastError && error.code === 'bad_history') return false;
    throw error;
  }
}

function verify(run: string, lines: Line[]): void {
  const journal = sealed(run, lines);
  const workflow = Buffer.from(JSON.stringify({ hash: lines[0]?.pinned?.hash }));
  verifyRun(run, { journal, workflow, texts: new Map() });
}

/** Recomputes checksums and hashes, as an attacker could. */
function sealed(run: string, lines: Line[]): Uint8Array {
  const pinned = lines[0]?.pinned;
  if (pinned) pinned.hash = hashDefinition(pinned.definition);
  let prev = genesis(run);
  return Buffer.concat(
    lines.map((line, index) => {
      const { bytes, hash } = encodeLine({ ...(line as unknown as Batch), seq: index + 1, prev });
      prev = hash;
      return bytes;
    }),
  );
}

test('a file with an event that cannot be is not imported', async () => {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const act = async (...args: string[]) => project.run(args, { env });
  const { run }: { run: string } = JSON.parse((await act('start', 'w', '--json')).stdout);
  await act('export', run, '--output', 'run.json');
  const file = join(project.root, 'run.json');
  const { digest: _digest, ...archive }: Archive = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(archive.entries[0]?.events[0] ?? {}, { summary: 7 });
  archive.hash = hashDefinition(archive.definition);
  const digest = `sha256:${hash('sha256', JSON.stringify(archive), 'hex')}`;
  writeFileSync(file, JSON.stringify({ ...archive, digest }));
  rmSync(join(project.root, '.stepfast/runs'), { recursive: true });
  expect(await act('import', 'run.json')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('summary is no text'),
  });
  expect((await act('runs')).stdout).toBe('');
});
