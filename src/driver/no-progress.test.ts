import { expect, it } from 'vitest';
import type { Cursor, State } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import { watchProgress } from './no-progress.ts';
import type { DriverContext } from './worker-context.ts';

interface Seen {
  tree?: string;
  exit?: number;
  visit?: number;
}

/** The verdicts after turns that leave this behind. */
async function verdicts(...turns: Seen[]): Promise<string[]> {
  let now: Seen = {};
  const workspace = { tree: async () => ({ hash: now.tree ?? 'same' }) };
  // It needs no more of a driver, a run and a position.
  const progress = watchProgress({ runtime: { workspace } } as unknown as DriverContext);
  const view = { definition: {}, state: { run: 'w-1-abc' } as State } as Loaded;
  const all: string[] = [];
  for (now of turns) {
    const receipts = [{ pass: false, what: 'npm test', exit: now.exit ?? 1 }];
    const cursor = { path: 'build', visit: now.visit ?? 1, receipts } as unknown as Cursor;
    all.push(await progress.after(view, cursor, '/'));
  }
  return all;
}

it('asks for a fresh session after two equal turns, and for a person after two more', async () => {
  expect(await verdicts({}, {}, {}, {})).toEqual(['go_on', 'fresh_session', 'go_on', 'person']);
});

it.each([
  ['the files', { tree: 'other' }],
  ['the failure', { exit: 2 }],
  ['the position', { visit: 2 }],
])('counts again from a turn that changes %s', async (_, change) => {
  expect(await verdicts({}, change, change, {})).toEqual(['go_on', 'go_on', 'fresh_session', 'go_on']);
});
