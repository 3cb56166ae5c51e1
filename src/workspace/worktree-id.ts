import { createHash } from 'node:crypto';

/**
 * On a server everybody's worktree is called `{project_root}`. So what a session says of its worktree there has the
 * place behind it: the machine, and which project directory of it.
 */
export const checkoutId = (machine: string, root: string): string =>
  `${machine.replaceAll(/[^\w.-]/g, '-')}:${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;

export const withCheckout = (worktree: string, place: string | undefined): string =>
  place === undefined ? worktree : `${worktree}@${place}`;

const form = /^(.*)@([\w.-]+:[0-9a-f]{8})$/s;

/** A stored worktree in its parts; without a place it is of this project directory, wherever that is. */
export function splitCheckout(stored: string): { worktree: string; place?: string } {
  const [, worktree, place] = form.exec(stored) ?? [];
  return worktree === undefined || place === undefined ? { worktree: stored } : { worktree, place };
}

/** One that does not tell its place is taken for the same. */
export function sameWorktree(one: string, other: string): boolean {
  const [a, b] = [splitCheckout(one), splitCheckout(other)];
  return a.worktree === b.worktree && isSameCheckout(a.place, b.place);
}

export const isSameCheckout = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;
