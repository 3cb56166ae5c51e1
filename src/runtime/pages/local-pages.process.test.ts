import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject } from '../../testing/index.ts';
import { createLocalPages } from './local-pages.ts';
import type { PageSource, RowChange } from './page-source.ts';
import { reportFile } from './report-file.ts';

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
    evidence: [{ path: 'plan', pass: false, state: 'finished', isRed: true, gates: [{ state: 'fail' }] }],
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
        waits: [{ kind: 'review' }],
      },
    ],
  });
  expect(waiting?.sessions[0]?.waits[0]).not.toHaveProperty('to');
  expect(waiting?.reviews[0]?.check).toBe(waiting?.evidence[0]?.id);
  // The older check failed, and was fixed.
  expect(waiting?.evidence.filter(({ isRed }) => isRed)).toEqual([]);
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
  const [wait] = page?.sessions[0]?.waits ?? [];
  expect(wait?.to).toBeGreaterThanOrEqual(wait?.from ?? Number.POSITIVE_INFINITY);
  expect(JSON.stringify(page)).not.toContain(secret);
});

test('no page and no report shows a secret of the workflow, the summary or a log', async () => {
  project.write({
    '.stepfast/workflows/w.yaml': files['.stepfast/workflows/w.yaml'].replace(
      '{ exists: plan.txt }',
      `{ run: "echo ${secret}; node long.js" }`,
    ),
    // The end of the log that a report keeps begins within the secret.
    'long.js': `console.log('${secret}' + '\\n' + 'x'.repeat(99).concat('\\n').repeat(9999).slice(0, 256 * 1024 - 20));`,
  });
  project.trust('w');
  const { runtime, run, session, at } = await started(`Use ${secret}`);
  const told: RowChange[] = [];
  const leave = pages.subscribe((change) => told.push(change));
  await runtime.call({ type: 'advance', output: 'Planned', at }, { session }, { run, waitMs: 30_000 });
  await expect.poll(() => told.length, { timeout: 20_000 }).toBeGreaterThan(0);
  leave();
  const shown = await Promise.all([
    pages.rows({ offset: 0, limit: 9 }),
    pages.needs(9),
    pages.workflow({ run }),
    pages.workflow({ name: 'w' }),
    pages.dryRun({ run }, { tasks: 1 }),
    pages.files(run),
    reportFile(pages, run, { project: 'p', now: 0 }),
  ]);
  expect(JSON.stringify([told, shown])).not.toContain(secret.slice(-8));
  expect(shown).not.toContain(undefined);
});

test('a question has its times and who answered, and ends the wait', async () => {
  const { runtime, run, session } = await started('Dark mode');
  await runtime.call({ type: 'ask', text: 'Which blue?' }, { session }, { run });
  const asked = await pages.page(run);
  expect(asked).toMatchObject({
    needs: [{ kind: 'question', question: asked?.questions[0]?.id, what: 'Which blue?', verb: 'Answer' }],
    sessions: [{ waits: [{ kind: 'question' }] }],
  });
  await runtime.call({ type: 'answer', text: 'Navy' }, person, { run });
  const page = await pages.page(run);
  expect(page).toMatchObject({ needs: [], questions: [{ text: 'Which blue?', answer: 'Navy', by: 'Ada' }] });
  const [question, [wait]] = [page?.questions[0], page?.sessions[0]?.waits ?? []];
  expect(wait).toMatchObject({ from: question?.askedAt, to: question?.answeredAt });
});

test('the files of a position are compared with what its gates saw, and with where the run began', async () => {
  const { runtime, run, session, at } = await started('Dark mode');
  expect(await pages.files(run)).toEqual({ positions: [] });
  project.write({ 'plan.txt': 'x\n', 'a.txt': 'one\ntwo\n' });
  await runtime.call({ type: 'advance', output: 'Planned', at }, { session }, { run, waitMs: 30_000 });
  const check = (await pages.page(run))?.evidence[0]?.id;
  const change = { files: 2, added: 2, removed: 0, commit: project.git('rev-parse', 'HEAD').trim() };
  expect(await pages.files(run)).toMatchObject({
    positions: [{ at, check, validity: 'valid', written: [], change }],
  });
  project.write({ 'b.txt': 'new\n' });
  expect(await pages.files(run)).toMatchObject({
    positions: [{ at, check, validity: 'stale', written: ['b.txt'], change: { files: 3 } }],
  });
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'second');
  expect(await pages.files(run)).toMatchObject({
    positions: [
      {
        validity: 'stale',
        change: {
          ...change,
          files: 3,
          added: 3,
          largest: expect.arrayContaining([{ path: 'b.txt', added: 1, removed: 0 }]),
        },
      },
    ],
  });
});

test('workflows are listed with their problems, drawn and played without an effect', async () => {
  project.write({ '.stepfast/workflows/broken.yaml': 'name: broken\nsteps: [{ id: a, type: nothing }]\n' });
  const { workflows } = await pages.workflows();
  expect(workflows).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ name: 'w', from: 'project', steps: ['Plan', 'Build'], isTrusted: true }),
      expect.objectContaining({ name: 'broken', steps: [], problem: expect.stringContaining('nothing') }),
    ]),
  );
  const graph = {
    name: 'w',
    phases: [
      { id: 'plan', review: 'human' },
      { id: 'build', type: 'loop' },
    ],
  };
  expect(await pages.workflow({ name: 'w' })).toMatchObject({ graph, isTrusted: true });
  const { run } = await started('Dark mode');
  expect(await pages.workflow({ run })).toMatchObject({ graph });
  expect(await pages.workflow({ name: '../../w.yaml' })).toBeUndefined();
  await expect(pages.workflow({ name: 'nowhere' })).rejects.toMatchObject({ code: 'no_workflow' });
  const dry = await pages.dryRun({ name: 'w' }, { tasks: 3 });
  expect(dry?.status).toBe('complete');
  expect(new Set(dry?.moves.map(({ by }) => by))).toEqual(new Set(['agent', 'gates', 'person']));
  expect(dry?.moves[0]).toMatchObject({ by: 'agent', at: { step: 'plan', title: 'Plan' } });
  expect(dry?.moves[0]?.told).toContain('Plan it.');
  expect(new Set(dry?.moves.flatMap(({ at: { task } }) => task ?? []))).toHaveProperty('size', 3);
  const failing = { tasks: 2, seed: 4 };
  expect(await pages.dryRun({ run }, failing)).toEqual(await pages.dryRun({ name: 'w' }, failing));
  expect((await pages.rows({ offset: 0, limit: 9 })).total).toBe(1);
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
  const places = all?.entries.flatMap(({ events }) => events.filter(({ path }) => path === 'plan')) ?? [];
  expect(places.map(({ type }) => type)).toEqual(['position.entered', 'gates.requested']);
  expect(places.filter(({ text }) => text.includes('(plan'))).toEqual([]);
  expect(JSON.stringify(all)).not.toContain(secret);
  expect(all).not.toHaveProperty('next');
  const first = await pages.journal(run, { after: 0, limit: 1 });
  const rest = await pages.journal(run, { after: first?.next ?? 99, limit: 100 });
  expect([...(first?.entries ?? []), ...(rest?.entries ?? [])]).toEqual(all?.entries);
  const newest = await pages.journal(run, { limit: 1 });
  const older = await pages.journal(run, { before: newest?.next ?? 0, limit: 100 });
  expect([...(newest?.entries ?? []), ...(older?.entries ?? [])]).toEqual(all?.entries.toReversed());
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
