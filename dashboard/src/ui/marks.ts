import type { GatePage, StepTone, Tone } from '../api-types.ts';
import { reader } from './reader.ts';

/** What a shape and a color mean on every page. */
export type Mark = 'working' | 'person' | 'red' | 'green' | 'stale' | 'failed' | 'ahead' | 'off';

export const toneMark: Record<Tone, Mark> = {
  working: 'working',
  person: 'person',
  red: 'red',
  complete: 'green',
  failed: 'failed',
  cancelled: 'off',
};

const toneWords: Record<Exclude<Tone, 'person'>, string> = {
  working: 'Working',
  red: 'Red gates',
  complete: 'Complete',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

export const toneWord = (tone: Tone): string => (tone === 'person' ? `Needs ${reader()}` : toneWords[tone]);

export const stepMark: Record<StepTone, Mark> = {
  ahead: 'ahead',
  open: 'working',
  person: 'person',
  red: 'red',
  done: 'green',
  failed: 'failed',
  skipped: 'off',
  dropped: 'off',
};

const stepWords: Record<Exclude<StepTone, 'person'>, string> = {
  ahead: 'not reached',
  open: 'in progress',
  red: 'fixing gates',
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
  dropped: 'dropped',
};

export const stepWord = (tone: StepTone): string =>
  tone === 'person' ? `needs ${reader()}` : stepWords[tone];

/** What an action on the context leaves the agent with. */
export const resetWord = { clear: 'fresh context', compact: 'summarized context' };

export const gateMark: Record<GatePage['state'], Mark> = {
  waiting: 'ahead',
  running: 'working',
  pass: 'green',
  fail: 'red',
  skipped: 'off',
};

export const gateWord = ({ state, exit }: GatePage): string => {
  if (state === 'fail') return exit === undefined ? 'Fail' : `Exit ${exit}`;
  return { waiting: 'Waiting', running: 'Running', pass: 'Pass', skipped: 'Skipped' }[state];
};

/** If files were written since, what passed proves nothing. What failed stays red: its fix is what writes files. */
export const verdictOf = (gate: GatePage, isStale: boolean): { mark: Mark; word: string } =>
  isStale && gate.state === 'pass'
    ? { mark: 'stale', word: 'Stale' }
    : { mark: gateMark[gate.state], word: gateWord(gate) };
