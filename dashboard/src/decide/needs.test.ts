import { expect, test } from 'vitest';
import { needHref, needKey } from './needs.ts';

const need = { title: 'Plan it', what: 'Planned', since: 0 };

test('a review has a page of its own, and other needs open a dialog on the run', () => {
  expect(needHref('k3', { ...need, kind: 'review', at: 'build/t1@2' })).toBe(
    '/runs/k3/review/build%2Ft1%402',
  );
  expect(needHref('k3', { ...need, kind: 'merge', task: 't1' })).toBe('/runs/k3?decide=merge%3At1');
});

test('two needs of one kind have different keys', () => {
  expect(needKey({ ...need, kind: 'budget', unit: 'turns' })).not.toBe(
    needKey({ ...need, kind: 'budget', unit: 'tokens' }),
  );
  expect(needKey({ ...need, kind: 'question', at: 'plan@1', question: 'q1' })).not.toBe(
    needKey({ ...need, kind: 'question', at: 'plan@1', question: 'q2' }),
  );
});
