import { isDeepStrictEqual } from 'node:util';
import {
  type Command,
  type Cursor,
  type Definition,
  type Event,
  ended,
  evolve,
  formatHandle,
  mayStop,
  opening,
  outputKey,
  outputProblem,
  parseHandle,
  type Response,
  replay,
  respond,
  type State,
} from '../../src/machine/index.ts';
import { nextForTools, refusalText, toolVoice } from '../../src/messages/index.ts';
import { Broken, cursorAt, handleOf, handlesIn, must } from './check.ts';
import { type Memory, memory, randomCommand } from './commands.ts';
import { Dice } from './dice.ts';
import { suggested } from './follow-actions.ts';
import { TaskWatch } from './task-watch.ts';

/** Plays random commands on a workflow and throws at the first invariant that does not hold. Returns the events. */
export function checkRun(definition: Definition, seed: number, length: number): Event[] {
  deepFreeze(definition);
  const dice = new Dice(seed);
  const remembered: Memory = { ...memory(), tells: true };
  const watch = new Watch(definition);
  let state = watch.step(null, { type: 'start', now: remembered.now, run: 'random-1-abcd', session: 'A' });
  if (dice.one(2)) {
    const event = { type: 'started' as const, witness: 'hooks' as const };
    state = watch.step(state, { type: 'session', now: remembered.now, session: 'A', event });
  }
  if (dice.one(3)) state = watch.step(state, takenBy(remembered.now));
  for (let played = 0; played < length; played += 1) {
    const before = state;
    state = watch.step(state, randomCommand(definition, state, dice, remembered));
    if (state !== before) watch.somethingIsAccepted(state, remembered.now);
  }
  const journal: Event[] = JSON.parse(JSON.stringify(watch.events));
  must(
    same(replay(definition, null, journal), state),
    'a replay of the journal gives the same state, byte for byte',
  );
  must(isDeepStrictEqual(JSON.parse(JSON.stringify(state)), state), 'a state is plain JSON');
  finish(definition, watch, state, remembered.now);
  return seed % 2 === 0 ? [...watch.events, ...followActions(definition, seed)] : watch.events;
}

/** A driver: tasks in parallel end when they are merged. */
const takenBy = (now: number): Command => ({
  now,
  actor: { kind: 'engine' },
  type: 'drive',
  change: 'take',
  process: { pid: 1, machine: 'm1' },
});

const mostMoves = 600;

/** A caller that follows `actions()` reaches the end. It never cancels or abandons. */
function finish(definition: Definition, watch: Watch, from: State, now: number, dice?: Dice): void {
  let state = from;
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const command = suggested(definition, state, now, { as: moves % 2 === 0 ? 'A' : 'B', dice });
    if (!command) return;
    const before = state;
    state = watch.step(state, command);
    must(state !== before, `${command.type} changes something, as the action says`);
  }
  must(false, `the run ends when actions() is followed; it is at ${JSON.stringify(state.cursors)}`);
}

/** From the start to the end by `actions()` alone, with red gates, failures and task lists by chance. */
function followActions(definition: Definition, seed: number): Event[] {
  const watch = new Watch(definition);
  const now = 1_000_000;
  let state = watch.step(null, { type: 'start', now, run: 'random-1-abcd', session: 'A' });
  if (seed % 4 === 0) state = watch.step(state, takenBy(now));
  finish(definition, watch, state, now, new Dice(seed));
  return watch.events;
}

class Watch {
  readonly events: Event[] = [];
  readonly #definition: Definition;
  readonly #visits = new Map<string, number>();
  readonly #current = new Map<string, string>();
  readonly #completed = new Set<string>();
  readonly #live = new Set<string>();
  readonly #green = new Map<string, Extract<Event, { type: 'gates.finished' }>>();
  readonly #requests = new Map<string, Extract<Event, { type: 'gates.requested' }>>();
  /** What the gates with `baseline` of a path said before the work, by their texts. */
  readonly #before = new Map<string, Map<string, 'pass' | 'fail'>>();
  readonly #approved = new Set<string>();
  readonly #requested = new Set<string>();
  readonly #offered = new Set<string>();
  readonly #voided = new Set<string>();
  readonly #cleanups = new Set<string>();
  readonly #tasks: TaskWatch;

  constructor(definition: Definition) {
    this.#definition = definition;
    this.#tasks = new TaskWatch(definition);
  }

  step(state: State | null, command: Command): State {
    deepFreeze(state);
    deepFreeze(command);
    const response = respond(this.#definition, state, command);
    let folded = state;
    for (const event of response.events) {
      folded = evolve(this.#definition, folded, event);
      this.#see(event, folded);
      this.#tasks.see(event, folded);
    }
    this.events.push(...response.events);
    const after = response.state;
    if (after === null) throw new Broken('a random workflow starts');
    if (response.events.length > 1) must(same(folded, after), 'folding one by one gives what respond gave');
    this.#answer(command, response, after);
    return after;
  }

  /** Either the run has ended, or what the status names is accepted and changes something. */
  somethingIsAccepted(state: State, now: number): void {
    const command = suggested(this.#definition, state, now);
    if (!command) return;
    const { events, reply } = respond(this.#definition, state, command);
    must(
      events.length > 0 && !('code' in reply),
      `${command.type} is accepted, as the status says: ${JSON.stringify(reply)}`,
    );
  }

  #answer(command: Command, { reply }: Response, after: State): void {
    const open = Object.values(after.cursors).map((cursor) => handleOf(after, cursor));
    must(reply.at === undefined || open.includes(reply.at), 'an answer names an open handle');
    const named = reply.action ? handlesIn(reply.action) : [];
    must(
      named.every((at) => open.includes(at)),
      'an action names open handles',
    );
    this.#keepsSecrets(command, reply, after);
    if ('code' in reply) {
      const { message, next } = refusalText(reply, toolVoice());
      return must(message !== '' && next !== '', 'a refusal says what to do');
    }
    must(nextForTools(reply.action) !== '', 'a status says what to do');
    mayStop(this.#definition, after, { session: 'A', active: false });
    const agent = (command.actor?.kind ?? 'agent') === 'agent';
    if (command.type !== 'status' || !agent || !reply.contextAction || !reply.at) return;
    const { boundary } = cursorAt(after, reply.at);
    // In a session of the driver it stays: the driver clears.
    const isDriven = after.sessions[command.session ?? '']?.witness === 'driver';
    if (boundary?.policy !== 'prefer' || isDriven) return;
    must(!this.#offered.has(reply.at), 'under prefer, a context action is offered once');
    this.#offered.add(reply.at);
  }

  /** An agent with a known session never gets the handle of another session's task, unless it sent it. */
  #keepsSecrets(command: Command, reply: object, after: State): void {
    if (command.session === undefined || (command.actor?.kind ?? 'agent') !== 'agent') return;
    const text = JSON.stringify(reply);
    for (const cursor of Object.values(after.cursors)) {
      const handle = handleOf(after, cursor);
      const known = cursor.lease === undefined || cursor.lease.holder === command.session;
      if (known || JSON.stringify(command).includes(handle)) continue;
      must(
        !text.includes(`${handle}"`) && !text.includes(`${handle},`),
        `${command.session} is not told ${handle} by ${JSON.stringify(command)}: ${text}`,
      );
    }
  }

  #see(event: Event, after: State): void {
    switch (event.type) {
      case 'position.entered': {
        const cursor = Object.values(after.cursors).find(
          ({ step, task, visit }) => step === event.step && task === event.task && visit === event.visit,
        );
        if (!cursor) throw new Broken('an entered position has a cursor');
        must(event.visit > (this.#visits.get(cursor.path) ?? 0), 'a visit is never used again');
        this.#visits.set(cursor.path, event.visit);
        if (event.why === 'next' || event.why === 'claim') this.#before.delete(cursor.path);
        this.#current.set(keyOf(cursor), handleOf(after, cursor));
        if (event.why === 'reclaim') must((cursor.lease?.epoch ?? 0) > 1, 'a reclaim has a new epoch');
        return;
      }
      case 'position.completed':
        return this.#sawCompleted(event, after);
      case 'merge.failed':
        for (const key of this.#live) if (!Object.hasOwn(after.outputs, key)) this.#live.delete(key);
        return;
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        this.#cleanups.clear();
        return;
      case 'cleanup.started':
      case 'cleanup.finished': {
        const what = event.type === 'cleanup.started' ? 'its start' : event.step;
        must(ended(after), 'only what has ended is cleaned up, and stays ended');
        must(!this.#cleanups.has(what), `${what} is reported once for an end`);
        this.#cleanups.add(what);
        return;
      }
      case 'gates.requested':
        must(!this.#requests.has(event.id), 'a gate run has an id of its own');
        this.#requests.set(event.id, event);
        return;
      case 'gates.finished': {
        const request = this.#requests.get(event.id);
        if (!request) throw new Broken('only requested gates finish');
        if (request.gates.some(({ role }) => role === 'baseline'))
          return this.#sawBaseline(request.at, event, after);
        if (event.pass) this.#green.set(request.at, event);
        else this.#green.delete(request.at);
        if (event.pass && request.approval) this.#approved.add(request.at);
        return;
      }
      case 'review.decided':
        if (event.verdict === 'approve' && event.at) this.#approved.add(event.at);
        return;
      case 'boundary.requested':
        must(!this.#requested.has(event.at), 'a boundary is requested at most once a visit');
        this.#requested.add(event.at);
        return;
      case 'run.rewound':
      case 'run.pivoted':
        return this.#sawVoided(event.to, after);
      default:
        return;
    }
  }

  #sawBaseline(at: string, { receipts }: Extract<Event, { type: 'gates.finished' }>, after: State): void {
    const path = parseHandle(at)?.path ?? '';
    must(!this.#before.has(path), `${path} has one baseline, before its work`);
    must(
      receipts.every(({ role }) => role === 'baseline'),
      'a baseline has no other gates',
    );
    const { waiting, reds, receipts: kept = [] } = cursorAt(after, at);
    must(!waiting && reds === 0 && kept.length === 0, `a baseline of ${at} is no attempt`);
    const said = new Map<string, 'pass' | 'fail'>();
    for (const { what, pass, undecided } of receipts)
      if (!undecided) said.set(what, pass && said.get(what) !== 'fail' ? 'pass' : 'fail');
    this.#before.set(path, said);
  }

  #sawCompleted(event: Extract<Event, { type: 'position.completed' }>, after: State): void {
    const path = parseHandle(event.at)?.path ?? '';
    const key = outputKey(path);
    const [stepId = '', second = '', third = ''] = path.split('/');
    const step = this.#definition.steps.find(({ id }) => id === stepId);
    if (!step) throw new Broken(`${event.at} names a step`);
    const task = step.type === 'loop' && second !== '' ? `${stepId}/${second}` : stepId;
    must(
      this.#current.get(task) === event.at,
      `${event.at} was the last visit: a late finisher never counts`,
    );
    must(!this.#completed.has(event.at), `${event.at} advances once`);
    must(!this.#live.has(key), `the output ${key} is not overwritten`);
    must(!this.#voided.has(event.at), `${event.at} was void after a rewind`);
    this.#completed.add(event.at);
    this.#live.add(key);
    const sub = this.#definition.loops?.[step.loop ?? '']?.find(({ id }) => id === third);
    const work = sub ?? step;
    if (work.run === undefined)
      must(
        outputProblem(work, opening(event.output)) === undefined,
        `the output of ${event.at} is what its step asks for`,
      );
    const gates = (step.type === 'loop' ? sub?.gate : step.gate) ?? [];
    const started = gates.some(({ baseline }) => baseline);
    must(this.#before.has(path) === started, `${event.at} is left after its baseline, if it has one`);
    for (const { role, gate, what, before } of event.receipts) {
      const asked = role === 'gate' && gates[gate - (work.run === undefined ? 0 : 1)]?.baseline;
      must(
        before === (asked ? this.#before.get(path)?.get(what) : undefined),
        `${what} tells what was before`,
      );
    }
    const green = this.#green.get(event.at);
    if (gates.length > 0) {
      must(green !== undefined, `${event.at} is not left without its gates`);
      const passed = event.receipts.filter(({ role, pass }) => role === 'gate' && pass);
      must(passed.length === gates.length, `every gate of ${event.at} has its receipt`);
    }
    const until = event.receipts.filter(({ role }) => role === 'until');
    const left =
      step.type !== 'ralph' ||
      Number(second) >= (step.n ?? 1) ||
      (until.length > 0 && until.every((r) => r.pass));
    if (step.type === 'loop' && second === '')
      must(this.#approved.has(event.at), `${event.at} is left without tasks only where a person approved it`);
    if (step.review && left) must(this.#approved.has(event.at), `${event.at} is not left without its review`);
    must(after.outputs[key]?.at === event.at, `the output of ${event.at} is kept`);
    const last = this.#definition.steps.at(-1)?.id === step.id && left && step.type !== 'loop';
    const rerun = this.#definition.steps
      .slice(0, -1)
      .flatMap((earlier) => [
        ...(earlier.gate ?? []),
        ...(earlier.type === 'loop' ? (this.#definition.loops?.[earlier.id] ?? []) : []).flatMap(
          (s) => s.gate ?? [],
        ),
      ])
      .filter((gate) => gate.rerun);
    if (!last) return;
    const held = event.receipts.filter(({ role, pass }) => role === 'rerun' && pass).length;
    must(held === rerun.length, 'what must hold again at the end was run again');
  }

  #sawVoided(to: string, after: State): void {
    const steps = this.#definition.steps.map(({ id }) => id);
    const later = new Set(steps.slice(steps.indexOf(to)));
    const isLater = (path: string): boolean => later.has(path.split(/[./]/, 1)[0] ?? '');
    for (const key of this.#live) if (isLater(key)) this.#live.delete(key);
    for (const [path, visit] of this.#visits) {
      if (!isLater(path)) continue;
      for (let past = 1; past <= visit; past += 1) this.#voided.add(formatHandle(after.run, path, past));
    }
    must(
      Object.keys(after.outputs).every((key) => !isLater(key)),
      'a rewind voids every later receipt',
    );
    const open = Object.values(after.cursors).map((cursor) => handleOf(after, cursor));
    must(
      open.every((handle) => !this.#voided.has(handle)),
      'a rewind voids every later handle',
    );
  }
}

const keyOf = ({ step, task }: Cursor): string => (task === undefined ? step : `${step}/${task}`);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A pure function may not change what it is given. */
function deepFreeze(value: unknown): void {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
}
