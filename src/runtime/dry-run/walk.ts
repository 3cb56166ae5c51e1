import { prepareFromState } from '../../engine/index.ts';
import {
  type Command,
  type Definition,
  type Notification,
  notificationsOf,
  type Response,
  respond,
  type State,
} from '../../machine/index.ts';

/** Returns the next command of the agent, person, host or gate runner; undefined when nothing is left to do. */
export type Player = (definition: Definition, state: State, now: number) => Command | undefined;

export interface Move {
  command: Command;
  response: Response;
  /** What the user would be told. */
  notifications: Notification[];
}

const maxMoves = 1000;
const secondMs = 1000;

/** Simulates a run in memory until it ends or has no next move. Each move takes one second. */
export function* walk(definition: Definition, start: Command, player: Player): Generator<Move> {
  let now = start.now;
  let command: Command | undefined = start;
  let state: State | null = null;
  for (let moves = 0; command && moves < maxMoves; moves += 1) {
    if (!command.actor) command = { ...command, session: start.session ?? '' };
    const response: Response = respond(definition, state, command, {}, prepareConditions);
    const notifications: Notification[] = response.state
      ? notificationsOf(definition, state, response.state)
      : [];
    yield { command, response, notifications };
    state = response.state;
    if (!state) return;
    now += secondMs;
    command = player(definition, state, now);
  }
}

/** Outputs are made up, and so are the tasks that would come from them. */
const prepareConditions: typeof prepareFromState = (definition, state, cursor) =>
  cursor.preparing?.kind === 'tasks' ? undefined : prepareFromState(definition, state, cursor);
