import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject } from '../../testing/index.ts';
import { createLocalPages } from './local-pages.ts';
import type { PageSource, RowChange } from './page-source.ts';

const files = {
  'a.txt': 'one\n',
  '.stepfast/workflows/w.yaml': `name: w
description: x
loops: { build: [{ id: code, instructions: Write. }, { id: check, title: Check it, instructions: Check. }] }
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it., gate: [{ exists: plan.txt }], review: { by: human } }
  - { id: build, type: loop, title: Build, budget: { turns: 9 } }
`,
};
/** Looks like a token of a forge; it is none. */
const secret = `ghp_${'a1B2c3D4'.repeat(5).slice(0, 36)}`;
const person = { actor: { kind: 'person' as const, name: 'Ada' } };

let project: ReturnType<typeof createTestProject>;
let pages: PageSource;
beforeEach(() => {
  project = createTestProject(files);
  pages = createLocalPages(project.runtime());
});
afterEach(() => project[Symbol.dispose]());

async function started(summary: string) {
  const runtime = project.runtime();
  const { reply, run = '' } = await runtime.start({ workflow: 'w', summary }, { session: summary });
  return { runtime, run, session: summary, at: 'at' in reply ? reply.at : undefined };
}

test('rows are counted, filtered, searched and paged, and changes are told', async () => {
  expect(await pages.rows({ offset: 0, limit: 10 })).toEqual({ total: 0, rows: [] });
  const { runtime, run, session, at } = await started('Dark mode');
  await started('Light mode');
  await expect.poll(() => pages.counts()).toMatchObject({ working: 2, person: 0 });
  const told: RowChange[] = [];
  const leave = pages.subscribe((change) => told.push(change));
  project.write({ 'plan.txt': 'x\n' });
  await runtime.call({ type: 'advance', output: 'Three colors', at }, { session }, { run });
  await expect.poll(() => told.at(-1), { timeout: 20_000 }).toMatchObject({ row: { run, tone: 'person' } });
  expect(await pages.counts()).toMatchObject({ working: 1, person: 1 });
  expect(await pages.needs(5)).toMatchObject([
    { run, needs: 1, need: { kind: 'review', what: 'Three colors' } },
  ]);
  expect((await pages.rows({ text: 'MODE dark', offset: 0, limit: 10 })).rows.map((row) => row.run)).toEqual([
    run,
  ]);
  expect(await pages.rows({ tone: 'working', offset: 0, limit: 1 })).toMatchObject({ total: 1 });
  expect(await pages.rows({ offset: 1, limit: 1 })).toMatchObject({ total: 2, rows: [{ run }] });
  await runtime.engine.remove(run);
  await expect.poll(() => told.at(-1), { timeout: 20_000 }).toEqual({ gone: run });
  leave();
});

test('the page of a run has its steps, tasks, evidence, sessions and decisions, and no secret', async () => {
  const { runtime, run, session, at } = await started('Dark mode');
  const call = (request: Parameters<typeof runtime.call>[0], who: object = { session }) =>
    runtime.call(request, who, { run, waitMs: 30_000 });
  await call({ type: 'note', kind: 'decision', text: `The token is ${secret}` });
  await call({ type: 'advance', output: 'Done', at });
  expect(await pages.page(run)).toMatchObject({
    row: { tone: 'red', now: 'Plan: fixing plan.txt' },
    steps: [
      { id: 'plan', tone: 'red', gates: ['plan.txt'], review: 'human' },
      { id: 'build', tone: 'ahead' },
    ],
    evidence: [{ path: 'plan', pass: false, state: 'finished', gates: [{ state: 'fail' }] }],
  });
  project.write({ 'plan.txt': 'x\n' });
  await call({ type: 'advance', output: 'Planned', at });
  const waiting = await pages.page(run);
  expect(waiting).toMatchObject({
    row: { tone: 'person', needs: 1 },
    needs: [{ kind: 'review', at }],
    reviews: [{ at, output: 'Planned', title: 'Plan', pivots: [] }],
    evidence: [{ pass: true, gates: [{ state: 'pass' }] }, { pass: false }],
    sessions: [
      {
        id: session,
        work: [{ path: 'plan', title: 'Plan' }],
        marks: [{ kind: 'note' }, { kind: 'red' }, { kind: 'green' }, { kind: 'person' }],
      },
    ],
  });
  expect(waiting?.reviews[0]?.check).toBe(waiting?.evidence[0]?.id);
  await call({ type: 'review', verdict: 'approve', at }, person);
  const tasks = [
    { id: 'one', title: 'Colors' },
    { id: 'two', title: 'Switch', depends_on: ['one'] },
  ];
  await call({ type: 'setTasks', loop: 'build', tasks });
  const page = await pages.page(run);
  expect(page).toMatchObject({
    steps: [
      { tone: 'done', evidence: 'proven', output: 'Planned' },
      {
        tone: 'open',
        tasks: [
          {
            id: 'one',
            tone: 'open',
            at: 'code',
            dependsOn: [],
            subSteps: [{ tone: 'open' }, { title: 'Check it', tone: 'ahead' }],
          },
          { id: 'two', tone: 'ahead', dependsOn: ['one'] },
        ],
      },
    ],
    decisions: [{ by: 'Ada', what: 'approve', path: 'plan' }],
    budgets: [{ of: 'step', unit: 'turns', limit: 9 }],
    notes: [{ kind: 'decision' }],
  });
  expect(JSON.stringify(page)).not.toContain(secret);
});

test('the journal, the briefing and the log of a gate', async () => {
  project.write({
    '.stepfast/workflows/w.yaml': files['.stepfast/workflows/w.yaml'].replace(
      '{ exists: plan.txt }',
      '{ run: "seq 1 3; exit 1" }',
    ),
  });
  project.trust('w');
  const { runtime, run, session, at } = await started('Dark mode');
  await runtime.call(
    { type: 'advance', output: `I used ${secret}`, at },
    { session },
    { run, waitMs: 30_000 },
  );
  const all = await pages.journal(run, { after: 0, limit: 100 });
  expect(all?.entries.flatMap(({ events }) => events.map(({ type }) => type))).toEqual(
    expect.arrayContaining(['run.started', 'position.entered', 'gates.requested', 'gates.finished']),
  );
  expect(JSON.stringify(all)).not.toContain(secret);
  expect(all).not.toHaveProperty('next');
  const first = await pages.journal(run, { after: 0, limit: 1 });
  const rest = await pages.journal(run, { after: first?.next ?? 99, limit: 100 });
  expect([...(first?.entries ?? []), ...(rest?.entries ?? [])]).toEqual(all?.entries);
  const briefing = await pages.briefing(run);
  expect(briefing?.text).toContain('Plan it.');
  expect(briefing?.parts.length).toBeGreaterThan(2);
  expect(briefing?.parts.every(({ from, to, tokens }) => to > from && tokens > 0)).toBe(true);
  const check = (await pages.page(run))?.evidence[0]?.id ?? '';
  expect(await pages.log(run, { check, gate: 0, from: 0 })).toMatchObject({
    text: '1\n2\n3\n',
    to: 6,
    size: 6,
    isLive: false,
  });
  expect(await pages.log(run, { check, gate: 0, from: 2 })).toMatchObject({ text: '2\n3\n', from: 2, to: 6 });
  expect(await pages.log(run, { check, gate: 7, from: 0 })).toMatchObject({ text: '', size: 0 });
  expect(await pages.page('none-20261115-aaaaaaaa')).toBeUndefined();
});
