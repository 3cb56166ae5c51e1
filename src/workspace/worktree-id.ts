import { createHash } from 'node:crypto';

/**
 * On a server, every main worktree is `{project_root}`. So a session stores its worktree with a checkout id: the machine
 * and a hash of the project directory.
 */
export const checkoutId = (machine: string, root: string): string =>
  `${machine.replaceAll(/[^\w.-]/g, '-')}:${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;

export const withCheckout = (worktree: string, checkout: string | undefined): string =>
  checkout === undefined ? worktree : `${worktree}@${checkout}`;

const form = /^(.*)@([\w.-]+:[0-9a-f]{8})$/s;

/** Splits a stored worktree. Without a checkout id it belongs to this project directory. */
export function splitCheckout(stored: string): { worktree: string; checkout?: string } {
  const [, worktree, checkout] = form.exec(stored) ?? [];
  return worktree === undefined || checkout === undefined ? { worktree: stored } : { worktree, checkout };
}

/** A worktree without a checkout id matches every checkout. */
export function sameWorktree(one: string, other: string): boolean {
  const [a, b] = [splitCheckout(one), splitCheckout(other)];
  return a.worktree === b.worktree && isSameCheckout(a.checkout, b.checkout);
}

export const isSameCheckout = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;
