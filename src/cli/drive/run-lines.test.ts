import { expect, test } from 'vitest';
import type { Event, Receipt } from '../../machine/index.ts';
import type { Loaded } from '../../store/index.ts';
import { createTestFolder } from '../../testing/index.ts';
import { renderLine } from '../paint.ts';
import { symbolsFor } from '../view/symbols.ts';
import { createRunLines, placeOf } from './run-lines.ts';

const files = {
  '.stepfast/workflows/w.yaml': `name: w
description: x
steps:
  - { id: plan, title: The plan, type: action, instructions: x }
  - { id: items, type: loop }
  - { id: polish, title: Polish, type: ralph, n: 3, instructions: x }
loops:
  items:
    - { id: build, instructions: x }
`,
};

async function view(): Promise<Loaded> {
  using project = createTestFolder(files);
  const { run } = await project.startRun('w');
  const loaded = await project.runtime().engine.view(run);
  if (!loaded) throw new Error('there is no run');
  const task = { id: 'a-1', title: 'The first item', description: '', status: 'open' };
  const items = { order: ['a-1'], byId: { 'a-1': task } } as unknown as Loaded['state']['tasks'][string];
  return { ...loaded, state: { ...loaded.state, tasks: { items } } };
}

const receipt = (more: Partial<Receipt>): Receipt =>
  ({ gate: 0, role: 'gate', what: 'npm test', pass: true, ...more }) as Receipt;
const io = { stdout: { write: () => {}, colour: false, columns: undefined }, unicode: true };

/** What is printed of these events, in order. */
async function printed(entries: boolean, ...events: Event[]): Promise<(string | undefined)[]> {
  const lines = createRunLines(symbolsFor(io as never), { entries });
  const seen = await view();
  return events.map((event) => {
    const words = lines.lineOf(event, seen);
    return words && renderLine(words, io.stdout);
  });
}

test('a position is named by its titles, never by ids that have one', async () => {
  const seen = await view();
  expect(
    ['k:plan#1', 'k:items/a-1/build#2', 'k:polish/2#1', 'items/a-1', 'k:gone/x#1'].map((at) =>
      placeOf(seen, at),
    ),
  ).toEqual(['The plan', 'The first item: build', 'Polish, round 2', 'The first item', 'x']);
});

test('red gates are shown with what was claimed, green ones with the position that they complete', async () => {
  const at = 'k:items/a-1/build#1';
  const requested = {
    type: 'gates.requested',
    at,
    id: 'c1',
    output: 'All tests pass.',
    gates: [],
    deadline: 1,
  };
  const red = {
    type: 'gates.finished',
    id: 'c1',
    pass: false,
    receipts: [receipt({ pass: false, exit: 1 })],
  };
  const green = { type: 'gates.finished', id: 'c2', pass: true, receipts: [receipt({})] };
  const done = {
    type: 'position.completed',
    at,
    output: 'Fixed.',
    receipts: [receipt({ role: 'baseline', pass: false }), receipt({ before: 'fail' })],
  };
  const [asked, failed, passed, completed] = await printed(
    false,
    ...([requested, red, green, done] as unknown as Event[]),
  );
  expect([asked, passed]).toEqual([undefined, undefined]);
  expect(failed).toContain('✗ The first item: build  npm test exit 1');
  expect(failed).toContain('“All tests pass.”');
  expect(completed).toMatch(/^✓ The first item: build {2}npm test red → green {2}Fixed\.$/);
});

test('a claim without a gate is marked', async () => {
  const event = { type: 'position.completed', at: 'k:plan#1', output: 'Planned', receipts: [] };
  const [line] = await printed(false, event as unknown as Event);
  expect(line).toContain('unverified');
});

test('the begin of work is a line only where nothing else shows it', async () => {
  const event = { type: 'position.entered', step: 'plan', visit: 1, why: 'next', failures: 0 } as Event;
  expect(await printed(false, event)).toEqual([undefined]);
  expect(await printed(true, event)).toEqual(['● The plan']);
});

test('sessions, briefings that arrived and baselines are no lines', async () => {
  const events = [
    { type: 'session.started', session: 's' },
    { type: 'briefing.delivered', briefing: 'b', session: 's', proven: 'transcript' },
    { type: 'gates.finished', id: 'c', pass: false, receipts: [receipt({ role: 'baseline', pass: false })] },
    { type: 'merge.queued', loop: 'items', task: 'a-1' },
  ] as unknown as Event[];
  expect(await printed(true, ...events)).toEqual(events.map(() => undefined));
});

test('a merge that failed says why in few words', async () => {
  const failed = { type: 'merge.failed', now: 1, loop: 'items', task: 'a-1', reason: 'a long reason' };
  const red = receipt({ pass: false, exit: 2 });
  const lines = await printed(
    false,
    { ...failed, why: 'conflict', files: ['cart.js'], receipts: [] } as Event,
    { ...failed, why: 'red', receipts: [red] } as Event,
  );
  expect(lines[0]).toContain('✗ The first item  not merged: conflict in cart.js');
  expect(lines[1]).toContain('npm test exit 2 on the merged tree');
});
