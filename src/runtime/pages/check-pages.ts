import {
  type Definition,
  type EventOf,
  gateText,
  parseHandle,
  type Receipt,
  type State,
} from '../../machine/index.ts';
import type { StoredEntry } from '../../store/index.ts';
import { pathTitle } from '../summary/position-title.ts';
import type { CheckPage, GatePage } from './pages.ts';

/** All gate runs, also of earlier visits, the newest first. */
export function checkPages(
  definition: Definition,
  state: State,
  entries: readonly Pick<StoredEntry, 'events'>[],
): CheckPage[] {
  const pages = new Map<string, CheckPage>();
  for (const { events } of entries)
    for (const event of events)
      switch (event.type) {
        case 'gates.requested':
          pages.set(event.id, requested(definition, state, event));
          break;
        case 'gates.started':
          change(event.id, ({ gates }) => {
            for (const gate of gates) gate.state = 'running';
          });
          break;
        case 'gates.finished':
          change(event.id, (page) => {
            page.state = 'finished';
            page.pass = event.pass;
            page.now = event.now;
            if (event.tree !== undefined) page.tree = event.tree;
            page.gates = page.gates.map((gate, index) => finished(gate, receiptOf(event, index)));
          });
          break;
        case 'gates.interrupted':
          change(event.id, (page) => {
            page.state = 'interrupted';
            for (const gate of page.gates) gate.state = 'skipped';
          });
      }
  const newestFirst = [...pages.values()].reverse();
  for (const { path, receipts = [] } of Object.values(state.cursors)) {
    const newest = newestFirst.find((page) => page.path === path);
    if (newest && receipts.some(({ pass }) => !pass)) newest.isRed = true;
  }
  return newestFirst;

  function change(id: string, apply: (page: CheckPage) => void): void {
    const page = pages.get(id);
    if (page) apply(page);
  }
}

const receiptOf = ({ receipts }: EventOf<'gates.finished'>, index: number): Receipt | undefined =>
  receipts.find(({ gate }) => gate === index);

function requested(
  definition: Definition,
  state: State,
  { id, at, now, gates }: EventOf<'gates.requested'>,
): CheckPage {
  const path = parseHandle(at)?.path ?? at;
  return {
    id,
    path,
    title: pathTitle(definition, state, path),
    now,
    pass: false,
    state: 'running',
    gates: gates.map(({ gate, role }) => ({ what: gateText(gate), role, state: 'waiting' })),
  };
}

function finished(gate: GatePage, receipt: Receipt | undefined): GatePage {
  if (!receipt) return { ...gate, state: 'skipped' };
  const { pass, exit, ms, reused, before, reportedBy, tail } = receipt;
  // Gates after a red one are not run.
  const wasRun = pass || ms !== undefined || exit !== undefined || reused === true;
  return {
    ...gate,
    state: pass ? 'pass' : wasRun || !tail?.startsWith('not run: ') ? 'fail' : 'skipped',
    ...(exit === undefined ? {} : { exit }),
    ...(ms === undefined ? {} : { ms }),
    ...(reused === undefined ? {} : { reused }),
    ...(before === undefined ? {} : { before }),
    ...(reportedBy === undefined ? {} : { reportedBy }),
    ...(tail === undefined ? {} : { tail }),
  };
}
