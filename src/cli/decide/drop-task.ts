import { printable } from '../../messages/index.ts';
import { person, personOnly } from '../caller.ts';
import { agreed } from '../confirm.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal, type RunValues } from '../perform.ts';
import { given } from '../run-options.ts';
import { declined } from './verdict.ts';

interface DropValues extends RunValues {
  reason?: string | undefined;
  yes?: boolean | undefined;
}

/** `stepfast tasks --drop`: a person removes a task that no list may leave out. */
export async function dropTask(
  io: Io,
  values: DropValues,
  task: string,
  loop: string | undefined,
): Promise<number> {
  const command = `stepfast tasks --drop ${task} --reason "..."`;
  const { reason } = values;
  if (!reason?.trim()) throw usageError(`Why? ${command}`);
  const refused = personOnly(io, 'removing a task', command);
  if (refused) return printRefusal(refused, io, values);
  const question = `Remove the task '${printable(task)}' for good?`;
  if (!values.yes && !(await agreed(io, question))) return declined(io, values);
  const request = { type: 'dropTask' as const, task, reason, ...given({ loop }) };
  return await perform(io, values, request, { who: person(io) });
}
