import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { journalQuery, logQuery } from '../api/client.ts';
import type { CheckPage, ReportFile, RunPage } from '../api-types.ts';
import { fillQueries } from './fill-queries.ts';

const gate = { what: 'npm test', role: 'gate', state: 'pass', tail: 'ok' } as const;
const check: CheckPage = {
  id: 'c1',
  path: 'plan',
  title: 'Plan',
  now: 0,
  pass: true,
  state: 'finished',
  gates: [gate, gate],
};

const entry = (seq: number) => ({ seq, now: seq, events: [] });
const page = { row: { run: 'k3' }, evidence: [check] } as unknown as RunPage;
const report: ReportFile = {
  project: 'shop',
  now: 0,
  page,
  journal: [entry(1), entry(2)],
  briefing: { text: '', tokens: 0, parts: [] },
  files: {},
  workflow: { graph: { name: 'x', description: '', type: 'custom', facts: [], phases: [], pivots: [] } },
  logs: [{ check: 'c1', gate: 1, log: { text: 'all of it', from: 0, to: 9, size: 9, isLive: true } }],
};

test('every gate has a log, and none is live', () => {
  const client = new QueryClient();
  fillQueries(client, report);
  expect(client.getQueryData(logQuery('k3', 'c1', 0).queryKey)).toMatchObject({ text: '', isLive: false });
  expect(client.getQueryData(logQuery('k3', 'c1', 1).queryKey)).toMatchObject({
    text: 'all of it',
    isLive: false,
  });
});

test('the journal is the newest first, and has nothing older to load', () => {
  const client = new QueryClient();
  fillQueries(client, report);
  expect(client.getQueryData(journalQuery('k3').queryKey)).toEqual({ entries: [entry(2), entry(1)] });
});
