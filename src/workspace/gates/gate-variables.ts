import { type ConditionContext, compileCondition } from '../../definition/index.ts';
import type { Scalar } from '../../machine/index.ts';

/** Inputs reach a command as variables, never as part of its text. */
export const inputVariables = (inputs: Record<string, Scalar>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      `STEPFAST_INPUT_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`,
      String(value),
    ]),
  );

/** Never throws: an error is undecided, with the reason. */
export function conditionHolds(
  expression: string,
  context: ConditionContext,
): { pass: boolean; why?: string; undecided?: true } {
  const condition = compileCondition(expression);
  if (!condition.ok) return { pass: false, why: condition.message, undecided: true };
  try {
    return { pass: condition.evaluate(context) };
  } catch (error) {
    return { pass: false, why: error instanceof Error ? error.message : String(error), undecided: true };
  }
}
