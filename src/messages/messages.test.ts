import { expect, test } from 'vitest';
import { actionSamples, refusalSamples } from '../../test/kit/message-samples.ts';
import type { Status } from '../machine/index.ts';
import {
  asLine,
  nextForPerson,
  nextForShell,
  nextForTools,
  noticeForPerson,
  refusalText,
  shellVoice,
  statusText,
  toolVoice,
} from './index.ts';

const keyOf = (sample: object): string => JSON.stringify(sample).replaceAll('"', '');

/** One golden file per reader: read them from top to bottom after `npm test -- -u`. */
test('every sentence of every reader is on file', async () => {
  const tools = [
    ...actionSamples.map((action) => `${keyOf(action)}\n  ${nextForTools(action)}`),
    ...refusalSamples.map((refused) => {
      const { message, next } = refusalText(refused, toolVoice({ workflows: 'go { task }, bugfix { bug }' }));
      return `${keyOf(refused)}\n  ${message}\n  ${next}`;
    }),
  ];
  const shell = [
    ...actionSamples.map((action) => `${keyOf(action)}\n  ${asLine(nextForShell(action, 'k3f9x2ab'))}`),
    ...refusalSamples.map((refused) => {
      const { message, next } = refusalText(refused, shellVoice({ run: 'k3f9x2ab' }));
      return `${keyOf(refused)}\n  ${message}\n  ${next}`;
    }),
  ];
  const person = actionSamples.map((action) =>
    [
      keyOf(action),
      ...[
        asLine(nextForPerson(action)),
        asLine(nextForPerson(action, undefined, { open: true, host: 'Claude Code' })),
        asLine(nextForPerson(action, undefined, { open: false, program: 'claude' })),
        asLine(nextForPerson(action, undefined, { open: false })),
        noticeForPerson(action),
      ]
        .filter((each, index, all) => all.indexOf(each) === index)
        .map((each) => `  ${each ?? '-'}`),
    ].join('\n'),
  );
  await expect(`${tools.join('\n')}\n`).toMatchFileSnapshot('fixtures/tools.txt');
  await expect(`${shell.join('\n')}\n`).toMatchFileSnapshot('fixtures/shell.txt');
  await expect(`${person.join('\n')}\n`).toMatchFileSnapshot('fixtures/person.txt');
});

test('answers of older journals are shown as they were stored', () => {
  const refused = { code: 'stale_handle', message: 'k3:a#1 is not open', next: 'ask for the status' };
  expect(refusalText(refused as never, toolVoice())).toEqual(refused);
  const status = { status: 'running', next: 'Advance.', waiting: { for: 'review', by: 'human', what: 'it' } };
  expect(statusText(status as unknown as Status, () => 'never')).toMatchObject({
    next: 'Advance.',
    waiting: { what: 'it' },
  });
});

test('a command names the run where several are live', () => {
  for (const action of actionSamples)
    for (const command of nextForShell(action, 'k3f9x2ab').commands) expect(command).toContain('k3f9x2ab');
});
