import type { Definition, Event, EventOf } from '../schema/index.ts';
import type { Draft } from './draft.ts';
import { own, put, without } from './own-property.ts';
import type { Merge } from './state.ts';
import { subStepsAgain } from './steps.ts';

type DriverEvent = EventOf<
  'driver.taken' | 'driver.renewed' | 'driver.released' | 'run.paused' | 'run.unpaused'
>;

export function applyDriver({ root }: Draft, event: DriverEvent): void {
  switch (event.type) {
    case 'driver.taken': {
      const { epoch, process, expires, branch, owner } = event;
      root.driver = { epoch, process, expires, ...(owner && { owner }) };
      if (branch !== undefined) root.branch = branch;
      return;
    }
    case 'driver.renewed':
      if (root.driver) root.driver = { ...root.driver, expires: event.expires };
      return;
    case 'driver.released':
      if (root.driver) root.driver = { ...root.driver, released: true };
      return;
    case 'run.paused':
      root.paused = { by: event.by, since: event.now };
      return;
    case 'run.unpaused':
      delete root.paused;
  }
}

type MergeEvent = Extract<Event, { type: `merge.${string}` | `queue.${string}` }>;

export function applyMerge(definition: Definition, { root }: Draft, event: MergeEvent): void {
  const change = (task: string, next: (merge: Merge) => Merge): void => {
    const merge = own(root.merges, task);
    if (!merge) return;
    const merges = { ...root.merges };
    put(merges, task, next(merge));
    root.merges = merges;
  };
  switch (event.type) {
    case 'merge.queued': {
      const { task, at, failures, now } = event;
      const { path = '', baseline: said } = own(root.cursors, `${root.step}/${task}`) ?? {};
      const merges = { ...root.merges };
      put(merges, task, {
        state: 'queued',
        at,
        failures,
        since: now,
        ...(said && { baseline: { path, said } }),
      });
      root.merges = merges;
      root.cursors = without(root.cursors, (key) => key === `${root.step}/${task}`);
      return;
    }
    case 'merge.started':
      return change(event.task, (merge) => ({
        ...merge,
        state: 'merging',
        base: event.base,
        commit: event.commit,
      }));
    case 'merge.finished':
      root.merges = without(root.merges ?? {}, (task) => task === event.task);
      return;
    case 'merge.failed': {
      // What is done again is not proven any more.
      const redone = new Set(
        subStepsAgain(definition, root.step).map(({ id }) => `${root.step}.${event.task}.${id}`),
      );
      root.outputs = without(root.outputs, (key) => redone.has(key));
      return change(event.task, ({ base: _base, commit: _commit, ...merge }) => ({
        ...merge,
        state: 'returned',
        failures: merge.failures + 1,
        reason: event.reason,
        receipts: event.receipts,
      }));
    }
    case 'merge.parked':
      return change(event.task, (merge) => ({ ...merge, state: 'parked' }));
    case 'merge.retried':
      return change(event.task, (merge) => ({ ...merge, state: 'returned', failures: 0 }));
    case 'queue.held': {
      const { why, reason, head, now } = event;
      root.held = { why, reason, since: now, ...(head === undefined ? {} : { head }) };
      return;
    }
    case 'queue.resumed':
      delete root.held;
  }
}
