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

/** Every `when` of a workflow. */
function conditionsIn({ steps, loops = {} }: Definition): string[] {
  return [...steps, ...Object.values(loops).flat()].flatMap(({ when }) => when ?? []);
}

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
  return (_, after, cursor) => decideWhen(definition, after, cursor, textOf);
}

/** The same where every text is short. */
export const prepareFromState: Prepare = (definition, state, cursor) =>
  decideWhen(definition, state, cursor, (text) => (typeof text === 'string' ? text : text.opening));

function decideWhen(
  definition: Definition,
  state: State,
  cursor: Cursor,
  textOf: (text: Text) => string,
): Prepared {
  const { when = 'true' } = workAt(definition, cursor);
  const condition = compileCondition(when);
  if (!condition.ok) return { problem: condition.message };
  const texts = outputsAt(state).map(([key, text]) => [key, textOf(text)] as const);
  return evaluate(condition, contextOf({ definition, state }, texts, cursor));
}

function evaluate(condition: Condition, context: ReturnType<typeof contextOf>): Prepared {
  try {
    return { when: { holds: condition.evaluate(context), values: condition.values(context) } };
  } catch (error) {
    if (!(error instanceof StepfastError)) throw error;
    return { problem: error.message };
  }
}
