import { commandName } from '../../command-name.ts';
import { printable } from '../../messages/index.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal, type RunValues } from '../perform.ts';

interface DropValues extends RunValues {
  reason?: string | undefined;
  yes?: boolean | undefined;
}

/** `stepfast tasks --drop`: a person removes an unfinished task, which a new list cannot omit. */
export async function dropTask(
  io: Io,
  values: DropValues,
  task: string,
  loop: string | undefined,
): Promise<number> {
  const command = `${commandName()} tasks --drop ${task} --reason "..."`;
  const { reason } = values;
  if (!reason?.trim()) throw usageError(`--drop needs --reason: ${command}`);
  const refused = personOnly(io, 'remove a task', command);
  if (refused) return printRefusal(refused, io, values);
  const question = `Remove the task '${printable(task)}' permanently?`;
  if (!values.yes && !(await confirm(io, question))) return printDeclined(io, values);
  const request = { type: 'dropTask' as const, task, reason, loop };
  return await perform(io, values, request, { who: person(io) });
}
