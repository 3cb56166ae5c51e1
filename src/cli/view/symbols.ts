import type { Io } from '../io.ts';

/** One sign for one meaning, in every view of a run. */
export interface Signs {
  done: string;
  here: string;
  open: string;
  bad: string;
  waits: string;
  dot: string;
  more: string;
}

export const signsFor = ({ unicode }: Io): Signs =>
  unicode
    ? { done: '✓', here: '●', open: '○', bad: '✗', waits: '◆', dot: ' · ', more: '…' }
    : { done: '[x]', here: '[>]', open: '[ ]', bad: '[!]', waits: '[?]', dot: ', ', more: '...' };
