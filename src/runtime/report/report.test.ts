import { expect, test } from 'vitest';
import { action, loop, Run, ralph, workflow } from '../../../test/kit/run.ts';
import type { Definition, Event } from '../../machine/index.ts';
import { compileReport } from './compile-report.ts';
import { falseDoneIn, type HistoryEntry } from './false-done.ts';
import type { Report } from './report.ts';
import { reportMarkdown } from './report-markdown.ts';

/** A run that also keeps who did what. */
class RecordedRun extends Run {
  readonly entries: HistoryEntry[] = [];

  override send(command: Parameters<Run['send']>[0]): ReturnType<Run['send']> {
    this.now += 60_000;
    const reply = super.send(command);
    const { actor } = command;
    this.entries.push({ now: this.now, events: this.last, ...(actor ? { actor } : {}) });
    return reply;
  }

  report(): Report {
    const { definition, state, entries } = this;
    return compileReport({ run: state.run, definition, hash: 'sha256:ab', state }, entries);
  }
}

function begin(definition: Definition, parts: { summary?: string; inputs?: Record<string, boolean> } = {}) {
  const run = new RecordedRun(definition, { start: false });
  run.send({ type: 'start', run: 'demo-20261115-k3f9x2ab', session: 's1', ...parts });
  return run;
}

const tree = (letter: string): string => `git:${letter.repeat(40)}`;

const rich: Definition = workflow(
  [
    action('plan', { title: 'Plan it', gate: [{ exists: 'PLAN.md' }], review: { by: 'human' } }),
    action('deploy', { when: 'inputs.deploy' }),
    loop('build', { context: 'clear' }),
    ralph('polish', 1, { until: [{ run: 'npm run lint' }], on_exhausted: 'complete' }),
    action('docs'),
    action('verify', {
      on_fail: { retry: 2, then: 'wait' },
      gate: [{ run: 'npm test' }, { run: 'npm run e2e' }],
    }),
  ],
  {
    boundaries: 'require',
    inputs: { deploy: { type: 'boolean', default: false } },
    loops: {
      build: [
        { id: 'code', instructions: 'x' },
        { id: 'check', instructions: 'y', gate: [{ run: 'npm test' }] },
      ],
    },
  },
);

function playRich(): RecordedRun {
  const run = begin(rich, { summary: 'Add a login page', inputs: { deploy: false } });
  run.witness('s1');
  const session = 's1';
  run.advance('Planned!', { session });
  run.gates({ red: true });
  run.advance('Planned, this time with the file', { session });
  run.gates({ tree: tree('a') });
  run.person({ type: 'review', verdict: 'approve', feedback: 'Go ahead' });
  const when = { holds: false, values: { 'inputs.deploy': 'false' } };
  run.engine({ type: 'prepared', at: run.status().at ?? '', when });
  run.tasks('build', 'form', 'styles', 'extra');
  run.status({ session });
  run.send({ type: 'boundary', by: 'hook', saw: 'clear', session });
  run.send({ type: 'ask', text: 'Which colour?', session });
  run.person({ type: 'answer', text: 'Blue' });
  run.person({ type: 'dropTask', task: 'extra', reason: 'Not now' });
  run.send({ type: 'spend', turns: 12, tokens: 123_456, cost: 1.5, source: session });
  for (const task of ['form', 'styles']) {
    run.status({ session });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session });
    run.advance(`Wrote ${task}`, { session });
    run.status({ session });
    run.send({ type: 'boundary', by: 'hook', saw: 'clear', session });
    run.advance(`Checked ${task}`, { session });
    run.gates({ tree: tree('b') });
  }
  run.advance('Polished', { session });
  run.gates({ red: true, tree: tree('c') });
  run.advance('Documented', { session });
  run.send({ type: 'fail', reason: 'The network is down', session });
  run.advance('All green', { session });
  run.gates({ tree: tree('d') });
  return run;
}

/** As a gate with a baseline leaves them. */
function withBaseline(run: RecordedRun): void {
  const receipts = run.state.outputs.verify?.receipts ?? [];
  for (const [index, receipt] of receipts.entries())
    Object.assign(receipt, { before: index === 0 ? 'fail' : 'pass' });
}

test('a report says what was asked, done, proven, decided and spent', () => {
  const run = playRich();
  expect(run.state.status).toBe('complete');
  withBaseline(run);
  const report = run.report();
  expect(report).toMatchObject({
    workflow: 'demo',
    summary: 'Add a login page',
    inputs: { deploy: false },
    status: 'complete',
    tree: tree('d'),
    spent: { turns: 12, tokens: 123_456, cost: 1.5 },
    false_done: [{ path: 'plan', said: 'Planned!', red: ['PLAN.md'] }],
    failures: [{ what: 'failed', path: 'verify', reason: 'The network is down' }],
    decisions: [
      { by: 'ann', what: 'approve', path: 'plan', text: 'Go ahead' },
      { by: 'ann', what: 'drop task', path: 'build/extra', text: 'Not now' },
    ],
    questions: [{ text: 'Which colour?', answer: 'Blue', by: 'ann' }],
    parked: [],
  });
  expect(report.spent).not.toHaveProperty('active_ms');
  expect(report.boundaries[0]).toMatchObject({
    action: 'clear',
    policy: 'require',
    performed: 'clear',
    observed_by: 'hook',
    released: 'reset',
  });
  expect(report.steps.map(({ id, evidence }) => [id, evidence])).toEqual([
    ['plan', 'proven'],
    ['deploy', 'skipped'],
    ['build', 'proven'],
    ['polish', 'unproven'],
    ['docs', 'unverified'],
    ['verify', 'proven'],
  ]);
  expect(report.steps[2]?.tasks).toMatchObject([
    { id: 'form', evidence: 'proven', tree: tree('b'), positions: [{ evidence: 'unverified' }, {}] },
    { id: 'styles', evidence: 'proven' },
    { id: 'extra', evidence: 'dropped', reason: 'Not now' },
  ]);
  expect(report.steps[5]?.positions[0]?.gates).toMatchObject([{ before: 'fail' }, { before: 'pass' }]);
});

test('a report reads well in a pull request', async () => {
  const run = playRich();
  withBaseline(run);
  await expect(reportMarkdown(run.report())).toMatchFileSnapshot('fixtures/report.md');
});

test('a run that waits, failed or was cancelled is not shown as complete', () => {
  const waiting = begin(rich);
  waiting.send({ type: 'ask', text: 'Which one?' });
  expect(waiting.report()).toMatchObject({
    status: 'waiting',
    steps: [{ evidence: 'open' }, { evidence: 'not_reached' }, {}, {}, {}, {}],
  });
  const cancelled = begin(rich);
  cancelled.person({ type: 'cancel', reason: 'No longer needed' });
  const report = cancelled.report();
  expect(report).toMatchObject({ status: 'cancelled', decisions: [{ by: 'ann', what: 'cancel' }] });
  expect(reportMarkdown(report)).toMatch(/^❌ /);
  expect(reportMarkdown(waiting.report())).toMatch(/^⏳ /);
});

test('no completed gate, no proof: a complete run without gates has a warning', () => {
  const run = begin(workflow([action('a')]));
  run.advance('done');
  expect(run.report()).toMatchObject({ status: 'complete', steps: [{ evidence: 'unverified' }] });
  expect(run.report()).not.toHaveProperty('tree', expect.anything());
  expect(reportMarkdown(run.report())).toMatch(/^⚠️ /);
});

const hostile = [
  'ok | ✅ | proven |',
  '| --- | --- |',
  '</details><script>alert(1)</script><img src=x onerror=y>',
  '# Heading',
  '```',
  '@team closes #12 and GH-3, fixes https://github.com/a/b/issues/1 [x](javascript:1) ![y](http://z) $a$ `code`',
  '\u202eevil\u0007',
].join('\n');

test('text of agents cannot break the table, add HTML, notify people or close issues', () => {
  const definition = workflow([action('a', { gate: [{ run: 'sh -c "a | b `c` \\\\| d"' }] }), action('b')]);
  const run = begin(definition, { summary: hostile });
  run.advance(hostile);
  run.gates({ red: true });
  run.send({ type: 'ask', text: hostile });
  run.person({ type: 'answer', text: hostile });
  run.advance(hostile);
  run.gates();
  run.advance(hostile);
  const text = reportMarkdown(run.report());
  const lines = text.split('\n');
  const rows = lines.filter((line) => line.startsWith('|'));
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(row.match(/\|/g)).toHaveLength(5);
  expect(new Set(text.match(/<[^>]*>/g))).toEqual(
    new Set(['<details>', '<summary>', '</summary>', '</details>', '<code>', '</code>']),
  );
  expect(lines.filter((line) => /^\s*(?:#|```)/.test(line))).toEqual([]);
  expect(text).not.toMatch(/@\w|(?<!&)#\d|GH-\d|:\/\/|\]\(|\$|\u202e/);
  expect(text).not.toContain('\u0007');
  expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
});

test('very long text is cut, and a report over the limit is shortened with a note', () => {
  const names = Array.from({ length: 170 }, (_, index) => `task-${index}`);
  const run = begin(workflow([loop('build')], { loops: { build: [{ id: 'do', instructions: 'x' }] } }));
  run.tasks('build', ...names);
  for (const name of names) run.advance(`${name} ${'word '.repeat(200)}`);
  const report = run.report();
  const whole = reportMarkdown(report);
  expect(whole.length).toBeGreaterThan(65_536);
  expect(whole.length).toBeLessThan(170 * 800);
  const short = reportMarkdown(report, { maxCharacters: 65_536 });
  expect(short.length).toBeLessThanOrEqual(65_536);
  expect(short).toContain('report k3f9x2ab');
  expect(short.split('\n')[0]).toBe(whole.split('\n')[0]);
  expect(reportMarkdown(report, { maxCharacters: 700 }).length).toBeLessThanOrEqual(700);
});

test('secrets are redacted in data and Markdown', () => {
  const token = `gh${'p_'}${'aB3dE5'.repeat(6)}`;
  const run = begin(workflow([action('a'), action('b')]), { summary: `Use ${token}` });
  run.advance(`Used ${token}`);
  const report = run.report();
  expect(JSON.stringify(report) + reportMarkdown(report)).not.toContain(token);
  expect(report.summary).toContain('[secret removed');
});

test('gates after an approval or a person, and commands of the engine, are no false report', () => {
  const requested = (id: string, parts: object): Event =>
    ({
      type: 'gates.requested',
      now: 1,
      at: 'x:a#1',
      id,
      output: 'Done',
      gates: [],
      deadline: 1,
      ...parts,
    }) as Event;
  const red = (id: string): Event => ({ type: 'gates.finished', now: 1, id, pass: false, receipts: [] });
  const person = { kind: 'person', name: 'ann' } as const;
  const gates = [{ gate: { run: 'x' }, role: 'run', from: 'a' }];
  expect(
    falseDoneIn([
      { now: 1, events: [requested('x:a#1!1', { approval: { by: 'ann' } }), red('x:a#1!1')] },
      { now: 2, actor: person, events: [requested('x:a#1!2', {})] },
      { now: 3, events: [red('x:a#1!2'), requested('x:a#1!3', { gates }), red('x:a#1!3')] },
      { now: 4, events: [requested('x:a#1!4', {}), red('x:a#1!4')] },
    ]),
  ).toMatchObject([{ path: 'a', said: 'Done', now: '1970-01-01T00:00:00.004Z' }]);
});
