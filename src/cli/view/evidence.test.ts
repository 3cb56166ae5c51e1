import { expect, test } from 'vitest';
import { gateExcerpt } from '../../context/index.ts';
import type { Definition, Output, Receipt, State } from '../../machine/index.ts';
import { greenNowText, redBeforeText } from '../../messages/index.ts';
import type { Io } from '../io.ts';
import type { Span } from '../paint.ts';
import { evidenceOf, failedGateLines, gateText, proofOf } from './evidence.ts';
import { symbolsFor } from './symbols.ts';

const definition: Definition = {
  name: 'w',
  description: 'x',
  steps: [
    {
      id: 'a',
      type: 'action',
      gate: [
        { run: 'npm test' },
        { exists: 'PLAN.md' },
        { condition: 'inputs.x != null' },
        { read: ['a.md', 'b.md'] },
      ],
    },
  ],
};
const now = Date.UTC(2026, 10, 15);
const passed: Receipt = { gate: 0, role: 'gate', what: 'npm test', pass: true, exit: 0 };
const output = (more: Partial<Output> = {}): Output => ({
  text: 'done',
  at: 'k3:a#1',
  now: now - 4 * 60_000,
  receipts: [passed],
  tree: 'git:1',
  ...more,
});
const text = (spans: readonly Span[]): string =>
  spans.map((span) => (typeof span === 'string' ? span : span[1])).join('');
const say = (one: Output, tree?: string): string => text(evidenceOf(one, { definition, tree, now }));

test('evidence says what passed, how long ago and on which tree', () => {
  expect(say(output(), 'git:1')).toBe('npm test passed 4 min ago on this tree');
  expect(say(output(), 'git:2')).toBe('npm test passed 4 min ago on an older tree');
  expect(say(output())).toBe('npm test passed 4 min ago');
});

test('[L/baseline] evidence says what a gate was before the work', () => {
  const [red, green] = (['fail', 'pass'] as const).map((before) =>
    output({ receipts: [{ ...passed, before }] }),
  );
  expect(red && say(red)).toContain(greenNowText('fail'));
  expect(green && say(green)).toContain(greenNowText('pass'));
  // Of two positions with the same gate the first one tells what was before all work.
  const outputs = { a: { ...output(), ...red }, b: { ...output(), ...green, now } };
  expect(proofOf(definition, { outputs } as unknown as State)).toMatchObject([
    { receipt: { before: 'fail' } },
  ]);
  const failed = { ...passed, pass: false, exit: 1, before: 'pass' as const };
  const lines = failedGateLines(definition, failed, symbolsFor({ unicode: true } as Io));
  expect(lines.map(text).join('\n')).toContain(redBeforeText('pass'));
});

test('output that no gate has checked is unverified, even when approved', () => {
  expect(say(output({ receipts: [] }), 'git:1')).toBe('unverified, 4 min ago');
  expect(say(output({ receipts: [], reviewed: 'ann' }))).toBe('unverified, 4 min ago, approved by ann');
  expect(say(output({ receipts: [{ ...passed, pass: false, exit: 1 }] }))).toBe('unverified, 4 min ago');
  expect(say(output({ receipts: [{ ...passed, role: 'until' }] }))).toBe('unverified, 4 min ago');
});

test.each([
  ['npm test', { exit: 1 }, 'npm test: exit 1'],
  ['npm test', {}, 'npm test failed'],
  ['PLAN.md', {}, 'PLAN.md does not exist'],
  ['inputs.x != null', {}, 'inputs.x != null does not hold'],
  ['a.md, b.md', {}, 'a.md, b.md was not read in its current version'],
])('a red %s with %o is: %s', (what, more, words) => {
  expect(gateText(definition, { gate: 0, role: 'gate', what, pass: false, ...more })).toBe(words);
});

test('A8: the evidence of a step is worded by its own gate, not by that of another step', () => {
  const two: Definition = {
    name: 'w',
    description: 'x',
    steps: [
      { id: 'a', type: 'action', gate: [{ exists: 'X.md' }] },
      { id: 'b', type: 'action', gate: [{ read: ['X.md'] }] },
    ],
  };
  const receipt: Receipt = { gate: 0, role: 'gate', what: 'X.md', pass: true };
  const evidence = (at: string) =>
    text(evidenceOf(output({ at, receipts: [receipt] }), { definition: two, tree: undefined, now }));
  expect(evidence('k3:a#1')).toBe('X.md exists 4 min ago');
  expect(evidence('k3:b#1')).toBe('X.md was read 4 min ago');
  const outputs = {
    a: output({ at: 'k3:a#1', receipts: [receipt] }),
    b: output({ at: 'k3:b#1', receipts: [receipt] }),
  };
  const proof = proofOf(two, { outputs } as unknown as State);
  expect(proof.map(({ at }) => at)).toEqual(['k3:a#1', 'k3:b#1']);
});

test('A6: a ralph step whose until never held is unproven', () => {
  const ralph: Definition = {
    name: 'w',
    description: 'x',
    steps: [{ id: 'p', type: 'ralph', n: 2, until: [{ run: 'lint' }] }],
  };
  const red: Receipt = { gate: 0, role: 'until', what: 'lint', pass: false, exit: 1 };
  const evidence = (at: string) =>
    text(evidenceOf(output({ at, receipts: [red] }), { definition: ralph, tree: undefined, now }));
  expect(evidence('k3:p/2#1')).toContain('unproven');
  expect(evidence('k3:p/1#1')).not.toContain('unproven');
});

const symbols = { done: '', here: '', open: '', bad: '✗', waits: '', dot: '', more: '' };
const redLines = (tail: string): string[] =>
  failedGateLines(definition, { ...passed, pass: false, exit: 1, tail, ms: 1200 }, symbols).map(text);

test('a red gate shows the last lines of its output, and no escape reaches the terminal', () => {
  const tail = `${Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n')}\n\u001b[2Jx\n\n`;
  const lines = redLines(tail);
  expect(lines[0]).toBe('✗ npm test: exit 1  1.2 s');
  expect(lines.at(-1)).toBe('    \ufffd[2Jx');
  expect(lines).toHaveLength(26);
});

test('[U8] a person sees the excerpt that the agent gets, with the name of the failing test', () => {
  const summary = Array.from({ length: 30 }, (_, line) => `# summary ${line}`).join('\n');
  const tail = `ok\n✖ the sum of the prices (1.2ms)\n  6 !== -4\n\n${summary}\n`;
  expect(redLines(tail).slice(1)).toEqual(gateExcerpt(tail).map((line) => `    ${line}`));
  expect(redLines(tail).join('\n')).toContain('the sum of the prices');
});
