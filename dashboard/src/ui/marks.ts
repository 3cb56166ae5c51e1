import type { GatePage, StepTone, Tone } from '../api-types.ts';

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

export const toneWord: Record<Tone, string> = {
  working: 'Working',
  person: 'Needs you',
  red: 'Red gates',
  complete: 'Complete',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

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

export const stepWord: Record<StepTone, string> = {
  ahead: 'not reached',
  open: 'in progress',
  person: 'needs you',
  red: 'fixing gates',
  done: 'done',
  failed: 'failed',
  skipped: 'skipped',
  dropped: 'dropped',
};

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
