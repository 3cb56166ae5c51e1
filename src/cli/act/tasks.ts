import { commandName } from '../../command-name.ts';
import type { TaskInput } from '../../machine/index.ts';
import { count, printable } from '../../messages/index.ts';
import { isRefused } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { callerOf } from '../caller.ts';
import { dropTask } from '../decide/drop-task.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint, renderLine, type Span } from '../paint.ts';
import { printAnswer } from '../perform.ts';
import { runToName } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { findAgentSession } from '../view/agent-session.ts';
import { nextFor } from '../view/next.ts';
import { symbolsFor } from '../view/symbols.ts';
import { readChecklist } from './checklist.ts';
import { readText, readTextFile } from './read-text.ts';

export const options = {
  ...runOptions,
  from: { type: 'string' },
  drop: { type: 'string' },
  reason: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, {});
  const [loop, ...given] = positionals;
  if (values.drop !== undefined) {
    if (given.length > 0) throw usageError('Pass either tasks or --drop.');
    return await dropTask(io, values, values.drop, loop);
  }
  if (loop === undefined)
    throw usageError(`No loop is given: ${commandName()} tasks <loop> "first task" "second task"`);
  if (values.from !== undefined && given.length > 0)
    throw usageError('Pass the tasks once: with --from <file> or after the loop.');
  const tasks = values.from === undefined ? await inlineTasks(given, io) : fromChecklist(values.from, io);
  const runtime = openRuntime(io, values);
  const answer = await runtime.call({ type: 'setTasks', loop, tasks }, callerOf(io), { run: values.run });
  if (values.json || isRefused(answer.reply) || answer.ignored || tasks.length === 0)
    return await printAnswer(answer, io, values, runtime);
  const { reply, run: id = '' } = answer;
  const line = (...spans: Span[]): void =>
    io.stdout.write(`${renderLine(spans, io.stdout, symbolsFor(io).more)}\n`);
  const { kept = [] } = answer;
  const set = tasks.filter(({ id: task }) => !kept.some((each) => each.id === task));
  const list = set.map(({ title }) => title).join('; ');
  line(
    ['green', symbolsFor(io).done],
    ` ${count(set.length, 'task')} for ${loop}${list === '' ? '' : `: ${list}`}`,
  );
  for (const { id: task, title, end = 'started' } of kept)
    line(['yellow', 'kept'], `  ${task}: ${title}`, ['dim', `  is ${end}, so it was not changed`]);
  const agent = await findAgentSession(runtime, (await runtime.engine.view(id))?.state, io);
  const { say, commands } = nextFor(reply, io, await runToName(runtime, id), agent);
  line(['bold', 'next'], '  ', say);
  for (const command of commands) io.stdout.write(`      ${paint(io.stdout, 'cyan', printable(command))}\n`);
  return exit.ok;
}

/** One JSON list, or a title each. */
async function inlineTasks(given: readonly string[], io: Io): Promise<TaskInput[]> {
  const [only = '', second] = given;
  if (only === '')
    throw usageError('No tasks are given. Pass titles, a JSON list, - for stdin, or --from tasks.md.');
  const text = second === undefined ? await readText(only, io) : '';
  if (text.trimStart().startsWith('[')) return jsonTasks(text);
  if (only === '-')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .map(titled);
  return given.map(titled);
}

const titled = (title: string, index: number): TaskInput => ({ id: `task-${index + 1}`, title });

function jsonTasks(text: string): TaskInput[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw usageError(`The tasks are not valid JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
  if (!Array.isArray(list)) throw usageError('The tasks must be a list.');
  return list.map((task, index) => {
    if (typeof task === 'string') return titled(task, index);
    if (task === null || typeof task !== 'object' || !isTask(task))
      throw usageError(`Task ${index + 1} must be a title, or { id, title, description?, depends_on? }.`);
    return task;
  });
}

/** Checks types only; the machine validates ids and dependencies. */
function isTask(task: object): task is TaskInput {
  const { id, title, description = '', depends_on = [] } = task as Record<string, unknown>;
  const texts = typeof id === 'string' && typeof title === 'string' && typeof description === 'string';
  return texts && Array.isArray(depends_on) && depends_on.every((each) => typeof each === 'string');
}

function fromChecklist(file: string, io: Io): TaskInput[] {
  const { tasks, done } = readChecklist(readTextFile(file, io));
  if (tasks.length === 0) {
    const why = done.length > 0 ? 'has no open task, all are ticked' : 'has no checklist (- [ ] T001 Title)';
    throw usageError(`'${file}' ${why}. To leave a loop without tasks: ${commandName()} tasks <loop> '[]'`);
  }
  if (done.length > 0)
    io.stderr.write(`Skipped ${count(done.length, 'ticked task')}: ${printable(done.join('; '))}\n`);
  return tasks;
}
