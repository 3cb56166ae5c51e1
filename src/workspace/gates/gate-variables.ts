import { type ConditionContext, compileCondition } from '../../definition/index.ts';
import type { Scalar, State } from '../../machine/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of a command of this run, and those of this process. */
export const commandVariables = (
  env: Environment,
  state: State,
  task?: string,
  slot?: number,
): Environment => ({
  ...inherited(env),
  STEPFAST_RUN_ID: state.run,
  ...(task === undefined ? {} : { STEPFAST_TASK_ID: task }),
  // One number for each agent that works at the same time, for instance to choose a port.
  ...(slot === undefined ? {} : { STEPFAST_SLOT: String(slot) }),
  ...inputVariables(state.inputs),
});

/** Without the variables of an outer run. */
const inherited = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^STEPFAST_(TASK_ID|RUN_ID|INPUT_)/.test(name)));

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
