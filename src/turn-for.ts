import { setImmediate } from 'node:timers/promises';

/** Reading or writing less holds nobody up. */
const large = 64 * 1024;
let last: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller has, so that many at once do not add up to a long one. */
export async function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  await last;
}

/** A turn of its own for a large text. */
export async function turnFor(length: number): Promise<void> {
  if (length >= large) await ownTurn();
}
