import { commandName } from '../command-name.ts';

/** What a gate did that is red: its command may have been expected to fail. */
export const redVerb = ({ expect }: { expect?: 'fail' | undefined }): string =>
  expect ? 'did not fail as expected' : 'failed';

/** About a red gate with `baseline`: whether it was red before the work began. */
export const redBeforeText = (before: 'pass' | 'fail'): string =>
  before === 'fail' ? 'was red before this step' : 'was green before this step: the change broke it';

/** About a gate with `baseline` that passed. */
export const greenNowText = (before: 'pass' | 'fail'): string =>
  before === 'fail' ? 'red → green' : 'green before';

/** About a result that a server got from an agent's token. */
export const reportedText = 'reported by the agent';

/** About an approval: the reviewer is the principal that did the work. */
export const ownWorkText = 'who did the work too';

export const approvedText = (by: string, ownWork: boolean | undefined): string =>
  `approved by ${by}${ownWork ? `, ${ownWorkText}` : ''}`;

/** What the gates with `baseline` said before the work began. */
export const baselineText = (gates: readonly { what: string; pass: boolean }[]): string =>
  gates.map(({ what, pass }) => `${what} was ${pass ? 'green' : 'red'}`).join(', ');

/** A file of a `read` gate whose current version was not read. */
export interface UnreadFile {
  path: string;
  state: 'unread' | 'changed' | 'missing';
}

const problems = {
  unread: 'was not read',
  changed: 'changed since it was read',
  missing: 'does not exist: write it, or name another file in the workflow',
};

/** The output of a `read` gate. Hooks record what an agent reads; without them the agent records it itself. */
export function unreadFilesText(files: readonly UnreadFile[]): string {
  const lines = files.map(({ path, state }) => `${path} ${problems[state]}`);
  const [first, second] = files.filter(({ state }) => state !== 'missing');
  if (!first) return lines.join('\n');
  const what = second ? 'each of them' : 'it';
  const call = `call workflow_note with kind reading and text ${first.path} (in a shell: ${commandName()} note reading ${first.path})`;
  return [
    ...lines,
    `Read ${what}. If no hooks record what you read, then record ${what}: ${call}. Then advance again.`,
  ].join('\n');
}
