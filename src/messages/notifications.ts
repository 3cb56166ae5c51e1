import type { Notification } from '../machine/index.ts';
import { usedUpText } from './budget.ts';
import { capitalized } from './text.ts';

/** Why a person is notified, as one sentence. */
export function notificationText({
  kind,
  position = '',
  text = '',
  unit = 'turns',
  of,
}: Notification): string {
  const because = text === '' ? '' : `: ${text}`;
  switch (kind) {
    case 'review':
      return `${position} waits for your review`;
    case 'question':
      return `${position} waits for your answer${because}`;
    case 'decision':
      return `${position} waits for your decision${because}`;
    case 'budget':
      return capitalized(usedUpText({ unit, step: position, ...(of && { of }) }));
    case 'complete':
      return 'The run is complete';
    case 'failed':
      return `The run has failed${because}`;
    case 'cancelled':
      return `The run was cancelled${because}`;
  }
}
