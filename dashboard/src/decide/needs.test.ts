import { expect, test } from 'vitest';
import { needCommand, needHref } from './needs.ts';

const need = { title: 'Plan it', what: 'Planned', since: 0 };

test('a review has a page of its own, and other needs open a dialog on the run', () => {
  expect(needHref('k3', { ...need, kind: 'review', at: 'build/t1@2' })).toBe(
    '/runs/k3/review/build%2Ft1%402',
  );
  expect(needHref('k3', { ...need, kind: 'merge', task: 't1' })).toBe('/runs/k3?decide=merge%3At1');
});

test('each need has a command for the terminal', () => {
  expect(needCommand({ ...need, kind: 'review', at: 'plan@1' }, 'k3')).toBe(
    'stepfast approve --at plan@1 --run k3',
  );
  expect(needCommand({ ...need, kind: 'merge', task: 't1' }, 'k3')).toBe(
    'stepfast merge --again t1 --run k3',
  );
});
