/** What decides in CI which tests run and what they may cost. */
import { expect, test } from 'vitest';
import { type Budget, overBudget, raisedWithoutReason } from '../scripts/ci/budget.ts';
import { agents, choose, triggersOf } from '../scripts/ci/tiers.ts';

const triggers = new Set(['src/hosts/process.ts', 'test/kit/codex.ts']);

test.each([
  ['nothing passed before', undefined, 0, 'full'],
  ['its adapter changed', ['src/hosts/codex/rollout.ts'], 1, 'full'],
  ['its tests changed', ['test/e2e/codex/turns.test.ts'], 1, 'full'],
  ['a shared part of adapters changed', ['src/hosts/process.ts'], 1, 'full'],
  ['a program changed its version', ['scripts/install-hosts.ts', 'package-lock.json'], 1, 'full'],
  ['another adapter changed', ['src/hosts/opencode/render.ts'], 1, 'smoke'],
  ['the product changed', ['src/machine/loops.ts'], 50, 'smoke'],
  ['the product changed long ago', ['src/machine/loops.ts'], 51, 'overdue'],
  ['only docs changed long ago', ['docs/machine.md'], 51, 'smoke'],
])('if %s, the agent runs as it must', (_, changed, commits, choice) => {
  expect(choose('codex', triggers, { changed, commits })).toBe(choice);
});

test.each(agents)('the parts that %s shares with others are among its triggers', async (agent) => {
  const found = await triggersOf(agent);
  expect(found).toContain(`src/hosts/${agent}/index.ts`);
  expect(found).toContain('src/hosts/program.ts');
  expect(found).toContain('scripts/install-hosts.ts');
  expect([...found].filter((file) => file.startsWith('src/machine/'))).toEqual([]);
});

test('a budget names each count that grew, CPU far over it, and steps without limits', () => {
  const e2e = { processes: 10, sessions: { claude: 2 }, cpuSeconds: 100, loop: 1 };
  const budget: Budget = { steps: { e2e }, ifChanged: { agent: e2e }, raised: [] };
  const used = (processes: number, claude: number, cpuSeconds: number) =>
    overBudget(budget, { e2e: { processes, sessions: { claude }, cpuSeconds, loop: 2 } });
  // The machine is half as fast, so 290 s are 145 s.
  expect(used(10, 2, 290)).toEqual([]);
  expect(used(11, 3, 292)).toEqual([
    'e2e: processes 11, at most 10',
    'e2e: sessions of claude 3, at most 2',
    'e2e: CPU seconds 146, at most 145',
  ]);
  expect(used(10, 2, Number.NaN)).toHaveLength(1);
  expect(overBudget(budget, { e2e, agent: e2e, new: e2e })).toEqual(['new: has no budget']);
  expect(used(0, 2, 100)).toEqual(['e2e: its processes were not counted']);
  expect(overBudget(budget, {})).toEqual(['e2e: did not run']);
  const long = { e2e: { ...e2e, cpuSeconds: 3_001 } };
  expect(overBudget({ steps: long, ifChanged: {}, raised: [] }, long)).toHaveLength(1);
});

test('a raised limit needs one more reason', () => {
  const e2e = { processes: 10, sessions: { claude: 2 }, cpuSeconds: 100, loop: 1 };
  const budget = (change: object, reasons = 0): Budget => ({
    steps: { e2e: { ...e2e, ...change } },
    ifChanged: {},
    raised: Array.from({ length: reasons }, () => ({ step: 'e2e', reason: 'more tests' })),
  });
  for (const change of [{ processes: 11 }, { sessions: { claude: 2, codex: 1 } }, { cpuSeconds: 101 }]) {
    expect(raisedWithoutReason(budget(change), budget({}))).toHaveLength(1);
    expect(raisedWithoutReason(budget(change, 1), budget({}))).toEqual([]);
  }
  expect(raisedWithoutReason(budget({ processes: 9 }), budget({}))).toEqual([]);
});
