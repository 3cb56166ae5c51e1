import type { Command, Definition, Response, State } from '../../machine/index.ts';
import { nextForTools, notificationText, refusalText, toolVoice } from '../../messages/index.ts';
import { random, succeed } from '../dry-run/players.ts';
import { dryStart, sampleInputs } from '../dry-run/start.ts';
import { type Move, walk } from '../dry-run/walk.ts';
import { positionTitle } from '../summary/position-title.ts';
import { eventSentences } from './journal-page.ts';
import type { DryMove, DryRunPage, DryRunRequest } from './pages.ts';

/** Plays a workflow to its end; yields after each move. Runs no command, reads no file. */
export function* dryRun(definition: Definition, { tasks, seed }: DryRunRequest): Generator<void, DryRunPage> {
  const player = seed === undefined ? succeed(tasks) : random(seed, tasks);
  const moves: DryMove[] = [];
  let status: DryRunPage['status'] = 'failed';
  for (const move of walk(definition, dryStart(definition, sampleInputs(definition)), player)) {
    moves.push(movePage(definition, move));
    status = move.response.state?.status ?? 'failed';
    yield;
  }
  return { status, moves };
}

function movePage(definition: Definition, { command, response, notifications }: Move): DryMove {
  const { events, reply, state } = response;
  const refusal = 'code' in reply ? refusalText(reply, toolVoice()) : undefined;
  const by = actorOf(command);
  const gates = events.find((event) => event.type === 'gates.finished');
  const told = by === 'agent' || by === 'host' ? toldIn(response) : undefined;
  return {
    by,
    events: eventSentences(definition, events),
    ...(gates ? { pass: gates.pass } : {}),
    ...(refusal ? { refused: { code: refusal.code, message: `${refusal.message} ${refusal.next}` } } : {}),
    at: placeIn(definition, state, command),
    ...(told === undefined ? {} : { told }),
    notifies: notifications.map(notificationText),
  };
}

function actorOf({ type, actor }: Command): DryMove['by'] {
  if (type === 'gatesFinished' || type === 'gatesStarted') return 'gates';
  if (type === 'boundary') return 'host';
  return actor?.kind ?? 'agent';
}

function toldIn({ reply }: Response): string | undefined {
  if ('code' in reply) return undefined;
  const next = nextForTools(reply.action);
  return reply.instructions === undefined ? next : `${reply.instructions}\n\n${next}`;
}

/** The position that the command was about; without one, that of the run. */
function placeIn(definition: Definition, state: State | null, command: Command): DryMove['at'] {
  if (!state) return { step: definition.steps[0]?.id ?? '', title: definition.name };
  const cursors = Object.values(state.cursors);
  const at = 'at' in command ? command.at : undefined;
  const cursor = cursors.find(({ path }) => at?.includes(`:${path}#`)) ?? cursors[0];
  const { step = state.step, task, subStep, iteration } = cursor ?? {};
  return {
    step,
    ...(task === undefined ? {} : { task }),
    ...(subStep === undefined ? {} : { subStep }),
    ...(iteration === undefined ? {} : { round: iteration }),
    title: positionTitle(definition, state, cursor ?? { step }),
  };
}
