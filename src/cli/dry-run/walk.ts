import { type Command, type Definition, type Response, respond, type State } from '../../machine/index.ts';

/** Plays whoever has the next move: agent, person, host or gate runner. Undefined: nothing left to do. */
export type Player = (definition: Definition, state: State, now: number) => Command | undefined;

export interface Move {
  command: Command;
  response: Response;
}

const mostMoves = 1000;
const secondMs = 1000;

/** A run in memory, move by move, until it has ended or nobody can move. The clock goes a second a move. */
export function* walk(definition: Definition, start: Command, player: Player): Generator<Move> {
  let now = start.now;
  let command: Command | undefined = start;
  let state: State | null = null;
  for (let moves = 0; command && moves < mostMoves; moves += 1) {
    if (!command.actor) command = { ...command, session: start.session ?? '' };
    const response: Response = respond(definition, state, command);
    yield { command, response };
    state = response.state;
    if (!state) return;
    now += secondMs;
    command = player(definition, state, now);
  }
}
