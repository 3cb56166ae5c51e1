import { type ConditionContext, excludedFrom } from '../../definition/index.ts';
import { type GatePass, type GatesRequest, passOf } from '../../evidence/index.ts';
import {
  type Checking,
  type Cursor,
  type Definition,
  gateOf,
  parseHandle,
  type State,
  workAt,
} from '../../machine/index.ts';
import type { Project } from '../project.ts';
import { readState } from '../required-reading.ts';
import { commandVariables, conditionHolds } from './gate-variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the gates of a position are, with all that decides them. */
export interface GatesOfPosition {
  definition: Definition;
  state: State;
  cursor: Cursor;
  checking: Checking;
  /** What conditions look at. */
  context: ConditionContext;
  project: Project;
  env: Environment;
  /** More variables, for the command of a run step. */
  outputs?: Record<string, string>;
}

/** The request for the gates of a position, except where their output goes. */
export function gateRequest({
  definition,
  state,
  cursor,
  checking,
  context,
  project,
  env,
  outputs,
}: GatesOfPosition): Omit<GatesRequest, 'logDirectory'> {
  return {
    gates: checking.gates,
    worktree: project.worktree,
    root: project.root,
    env: { ...commandVariables(env, state, cursor.task, cursor.slot), ...outputs },
    format: workAt(definition, cursor),
    exclude: excludedFrom(definition),
    condition: (expression) => conditionHolds(expression, context),
    isRead: (path) => readState(state, path, project),
    passed: passedBefore(definition, state, cursor),
    redAgain: checking.onPass !== undefined,
  };
}

/**
 * Passed gates that can be reused for the same check and tree; never those of another task, and never what an agent's
 * token reported to a server: nobody else has seen that the gate ran.
 */
function passedBefore(definition: Definition, { outputs }: State, cursor: Cursor): GatePass[] {
  const place = (path: string): string => (path.split('/').length > 2 ? path.split('/', 2).join('/') : '');
  return Object.values(outputs)
    .filter(({ at }) => place(parseHandle(at)?.path ?? '') === place(cursor.path))
    .flatMap(({ at, receipts }) =>
      receipts.flatMap((receipt) =>
        passOf(
          receipt.pass && receipt.role !== 'run' && !receipt.reportedBy
            ? gateOf(definition, at, receipt)
            : undefined,
          receipt.tree,
        ),
      ),
    );
}
