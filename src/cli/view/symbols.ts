import type { Io } from '../io.ts';

/** The same symbols in every view of a run. */
export interface Symbols {
  done: string;
  here: string;
  open: string;
  bad: string;
  waits: string;
  dot: string;
  more: string;
}

export const symbolsFor = ({ unicode }: Io): Symbols =>
  unicode
    ? { done: '✓', here: '●', open: '○', bad: '✗', waits: '◆', dot: ' · ', more: '…' }
    : { done: '[x]', here: '[>]', open: '[ ]', bad: '[!]', waits: '[?]', dot: ', ', more: '...' };
