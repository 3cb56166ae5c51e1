import { type Condition, compileCondition } from '../definition/index.ts';
import { StepfastError } from '../errors.ts';
import {
  type Cursor,
  type Definition,
  type LongText,
  type Prepare,
  type Prepared,
  type State,
  type Text,
  workAt,
} from '../machine/index.ts';
import { contextOf, outputsAsked, outputsAt } from './condition-context.ts';
import { tasksFromList } from './tasks-from-list.ts';

/** Every `when` of a workflow, and every output that tasks come from. */
function conditionsIn({ steps, loops = {} }: Definition): string[] {
  const conditions = [...steps, ...Object.values(loops).flat()].flatMap(({ when }) => when ?? []);
  const outputs = steps.flatMap(({ tasks }) => (tasks?.output === undefined ? [] : pathOf(tasks.output)));
  return [...conditions, ...outputs];
}

/** As a condition reads it. */
const pathOf = (output: string): string => `outputs.${output} != null`;

/**
 * Finds out what positions ask for, from the run itself. Long outputs that a condition names are read before; `given` is
 * the text of the call.
 */
export async function createPrepare(
  definition: Definition,
  state: State | null,
  read: (text: LongText) => Promise<string>,
  given?: { text: string; kept: LongText },
): Promise<Prepare> {
  const conditions = conditionsIn(definition);
  const texts = new Map(given ? [[given.kept.digest, given.text]] : []);
  const isAsked = outputsAsked(conditions);
  for (const [key, text] of state ? outputsAt(state) : [])
    if (typeof text !== 'string' && isAsked(key)) texts.set(text.digest, await read(text));
  const textOf = (text: Text): string =>
    typeof text === 'string' ? text : (texts.get(text.digest) ?? text.opening);
  return (_, after, cursor) => prepare(definition, after, cursor, textOf);
}

/** The same where every text is short. */
export const prepareFromState: Prepare = (definition, state, cursor) =>
  prepare(definition, state, cursor, (text) => (typeof text === 'string' ? text : text.opening));

function prepare(
  definition: Definition,
  state: State,
  cursor: Cursor,
  textOf: (text: Text) => string,
): Prepared | undefined {
  if (cursor.preparing?.kind === 'baseline') return undefined;
  const texts = outputsAt(state).map(([key, text]) => [key, textOf(text)] as const);
  const context = contextOf({ definition, state }, texts, cursor);
  const { when = 'true', tasks } = { tasks: undefined, ...workAt(definition, cursor) };
  if (cursor.preparing?.kind === 'tasks')
    return tasks?.output === undefined ? undefined : tasksIn(context.outputs, tasks.output);
  const condition = compileCondition(when);
  return condition.ok ? evaluate(condition, context) : { problem: condition.message };
}

/** The list at a path of the outputs. */
function tasksIn(outputs: unknown, path: string): Prepared {
  const found = path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? Reflect.get(value, key)
          : undefined,
      outputs,
    );
  return tasksFromList(found, `outputs.${path}`);
}

function evaluate(condition: Condition, context: ReturnType<typeof contextOf>): Prepared {
  try {
    return { when: { holds: condition.evaluate(context), values: condition.values(context) } };
  } catch (error) {
    if (!(error instanceof StepfastError)) throw error;
    return { problem: error.message };
  }
}
