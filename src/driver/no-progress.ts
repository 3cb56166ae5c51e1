import { type Cursor, handleOf } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import type { DriverContext } from './worker-context.ts';

/** What follows a turn: another one, one in a fresh session, or a person. */
export type Verdict = 'go_on' | 'fresh_session' | 'person';

/** Sees whether turns change anything: the position, the tree, or which gates fail. */
export interface ProgressWatch {
  after(view: Loaded, cursor: Cursor, worktree: string): Promise<Verdict>;
}

/** The same twice: a fresh session. The same twice more: a person. */
const patience: Record<number, Verdict> = { 1: 'fresh_session', 3: 'person' };

export function watchProgress({ runtime }: DriverContext): ProgressWatch {
  let last = '';
  let repeats = 0;
  return {
    async after(view, cursor, worktree) {
      const tree = await runtime.workspace.tree(view.definition, worktree);
      const failing = (cursor.receipts ?? [])
        .filter(({ pass }) => !pass)
        .map(({ what, exit }) => [what, exit]);
      const now = JSON.stringify([handleOf(view.state, cursor), tree?.hash, failing]);
      repeats = now === last ? repeats + 1 : 0;
      last = now;
      return patience[repeats] ?? 'go_on';
    },
  };
}
