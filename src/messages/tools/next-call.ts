import {
  type Cursor,
  type Definition,
  formatHandle,
  isWithin,
  type Receipt,
  type State,
  type Status,
} from '../../machine/index.ts';
import { firstWithin } from './fit-tokens.ts';
import { taskStates } from './task-states.ts';

export interface Known {
  session: string;
  /** The caller said which position it meant. */
  named?: boolean;
  /** Its words were not taken. */
  ignored?: boolean;
  view?: { definition: Definition; state: State } | undefined;
  /** Who answers has no tree, and runs no gates. */
  treeless?: boolean;
}

/** The status of a call that may have been made before. */
type Answered = Status & { replayed?: true; interrupted?: true };

const mostNamed = 5;

/** Whether `next` depends on more than the status tells. */
export const needsView = ({ at, delegate, contextAction, waiting, replayed }: Answered): boolean =>
  at === undefined || Boolean(delegate || contextAction || waiting || replayed);

/** What an agent that has these tools and no terminal does next. */
export function nextCall(told: Answered, known: Known): string {
  const { at, status, checking, waiting, contextAction, failed_gates, unstable_files } = told;
  if (checking && at !== undefined)
    return `${known.treeless ? 'The gates are for somebody who has the tree' : 'The gates are running'}: call workflow_status with at ${at} in a while.`;
  if (checking || (status !== 'running' && status !== 'waiting')) return told.next;
  if (waiting) return `${known.ignored ? notKept(told) : ''}${decision(told, waiting, known)}`;
  if (at === undefined) return `${known.ignored ? notKept(told) : ''}${share(told, known)}`;
  if (contextAction) return fresh(told, at, known);
  if (told.replayed && !known.named) return `${repeated(known)}; to complete ${at} pass at.`;
  if (failed_gates?.length) return `${failure(failed_gates)}: mend it, then ${advance(at)}`;
  if (unstable_files) return `The gates kept changing files: see that they change none, then ${advance(at)}`;
  if (told.stepType === 'loop' && !told.task)
    return `Do what the instructions say, then call workflow_set_tasks with loop_id '${told.step}'.`;
  if (!told.delegate || told.agent === null) return `Do what the instructions say, then ${advance(at)}`;
  return `Hand ${at} to a subagent ${agentIn(told.agent, known)}; it advances ${at}. If you are it, go on.`;
}

const advance = (at: string): string => `call workflow_advance with at ${at}.`;

const notKept = ({ at, waiting }: Answered): string =>
  `Your words were not kept, because ${at ?? 'the run'} waits for ${waitsFor[waiting?.for ?? 'blocked']}. `;

const waitsFor = {
  review: 'a review',
  question: 'an answer',
  blocked: 'a decision',
  budget: 'more budget',
} as const;

function decision(
  { at, step }: Answered,
  { for: what, by, what: why }: NonNullable<Answered['waiting']>,
  { session, view }: Known,
): string {
  if (what === 'blocked' && at === undefined)
    return `Call workflow_set_tasks with more tasks for '${step}', or end your turn. The user decides with: ${commands.blocked}`;
  if (what === 'budget') {
    const [, unit = 'turns'] = /^the (turns|tokens|minutes) /.exec(why) ?? [];
    return `End your turn. The user decides with: stepfast review approve --${unit} N`;
  }
  if (what !== 'review' || by === 'human') return `End your turn. The user decides with: ${commands[what]}`;
  const waiting = cursorAt(view?.state, at)?.waiting;
  const own = waiting?.kind === 'review' && waiting.session === session;
  // Where hooks tell who calls, a subagent is known as itself.
  const apart = Object.hasOwn(view?.state.sessions ?? {}, session) && view?.state.sessions[session]?.witness;
  const whom = apart
    ? `a subagent that is the reviewer '${by}'`
    : `the reviewer '${by}' in a session of its own (your subagents count as you)`;
  if (own) return `Hand ${at} to ${whom}: it calls workflow_advance with at and a verdict.`;
  return `If you are the reviewer '${by}', look at the work, then call workflow_advance with at ${at}, a verdict, and your reasons as output.`;
}

const commands = {
  review: 'stepfast approve',
  question: 'stepfast answer "…"',
  blocked: 'stepfast reject "…"',
} as const;

function repeated({ view }: Known): string {
  const last = view?.state.last;
  const at = last?.kind === 'advance' ? view?.state.outputs[last.key]?.at : undefined;
  return `Taken for a repeat of what you said ${at === undefined ? 'just before' : `at ${at}`}`;
}

/** A context action is a person's or a host's: no agent can clear its own context. */
function fresh({ contextAction, agent }: Answered, at: string, { view, session }: Known): string {
  const whom = agent === null ? 'a subagent' : `a subagent '${agent}'`;
  const boundary = cursorAt(view?.state, at)?.boundary;
  const asked = boundary?.state === 'requested' ? boundary.session : undefined;
  if (asked !== undefined && session !== '' && !isWithin(asked, session) && !isWithin(session, asked))
    return `Another session was asked for a fresh context here. Where this one has just begun, it is that: call workflow_status with at ${at}.`;
  const required = boundary?.policy === 'require';
  const otherwise = required
    ? 'Or the user lets it pass with: stepfast proceed'
    : 'If neither is possible, workflow_status gives the instructions.';
  return `The position wants a fresh context (${contextAction}), which you cannot make yourself: hand ${at} to ${whom}, or end your turn and ask the user to type ${contextAction} and then continue. ${otherwise}`;
}

function failure(failed: readonly Receipt[]): string {
  const [first] = failed;
  const exit = first?.exit === undefined ? '' : ` (exit ${first.exit})`;
  const more = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
  const what = firstWithin(first?.what ?? 'a gate', 20);
  return more === '' ? `${what} failed${exit}` : `${what}${exit}${more} failed`;
}

function agentIn(name: string, { view }: Known): string {
  const agents = view?.definition.agents ?? {};
  const { description, cannot = [] } = (Object.hasOwn(agents, name) ? agents[name] : undefined) ?? {};
  const about = [
    ...(description === undefined ? [] : [firstWithin(description, 16)]),
    ...(cannot.length === 0 ? [] : [firstWithin(`it may not use ${listed(cannot)}`, 24)]),
  ];
  return `'${name}'${about.length === 0 ? '' : ` (${about.join('; ')})`}`;
}

/** Several agents work: what the caller has, what is free, and what the rest waits for. */
function share({ run, step, held = [], ready = [], status }: Answered, { view }: Known): string {
  const own = held.flatMap(({ at, waiting }) => (at === undefined || waiting ? [] : [at]));
  const goOn = own.length === 0 ? '' : `Go on with at ${own.slice(0, 2).join(' or ')}. `;
  if (ready.length > 0) return `${goOn}Call workflow_claim with run_id ${run}; ready: ${listed(ready)}.`;
  const places = view?.definition.steps.find(({ id }) => id === step);
  const states = view ? taskStates(view.definition, view.state, places?.loop ?? step) : new Map();
  const open = [...states].filter(([, state]) => /^(held|waits|is stuck|under way)/.test(state));
  const what = open.map(([id, state]) => firstWithin(`${id} ${state}`, 20));
  const full = held.length >= (places?.parallel ?? 1);
  const why = full ? `all ${held.length} places are taken` : 'no task is ready';
  const then =
    status === 'waiting'
      ? `End your turn${forUser(view?.state)}`
      : 'End your turn, or call workflow_status later.';
  return `${goOn}Nothing can be claimed, ${why}${what.length === 0 ? '' : `: ${listed(what, '; ', 3)}`}. ${then}`;
}

function forUser(state: State | undefined): string {
  const kinds = Object.values(state?.cursors ?? {}).flatMap(({ waiting }) =>
    !waiting || (waiting.kind === 'review' && waiting.by !== 'human') ? [] : [waiting.kind],
  );
  const [first] = kinds;
  return first === undefined ? '.' : `. The user decides with: ${commands[first]}`;
}

const listed = (items: readonly string[], mark = ', ', most = mostNamed): string =>
  items.length <= most
    ? items.join(mark)
    : `${items.slice(0, most).join(mark)} and ${items.length - most} more`;

const cursorAt = (state: State | undefined, at: string | undefined): Cursor | undefined =>
  Object.values(state?.cursors ?? {}).find(
    ({ path, visit }) => state && formatHandle(state.run, path, visit) === at,
  );
