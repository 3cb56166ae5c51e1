import { gateExcerpt } from '../context/index.ts';
import {
  checkAtStop,
  cursorAt,
  ended,
  gateText,
  maxHolds,
  type StopCheck,
  usedUp,
} from '../machine/index.ts';
import {
  checkLeftText,
  filesChangedText,
  freshContextText,
  greenStaysText,
  handedOverText,
  refusalText,
  shellVoice,
  stepOpenText,
  stillRedText,
  stopHeldText,
  stopRedText,
  subagentFirstText,
} from '../messages/index.ts';
import { createEndNotices, type HookOutput, isRefused } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { cancelCommand } from './cancel-command.ts';
import { positionOf } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { leaveCommand } from './leave-command.ts';
import { openNextPosition } from './next-position.ts';
import { personNotice } from './notify-person.ts';
import { reportSpending } from './report-spending.ts';
import { endOf } from './session-files.ts';
import { waitUntil } from './wait-until.ts';

const transcriptMs = 1_000;
const noticeMs = 3_000;

type OpenPosition = Extract<StopCheck, { at: string }>;

/** `stop: check`: the gates of the position decide whether the work is done, not the agent's last message. */
export async function stopWithCheck(event: HookEvent, view: Loaded): Promise<HookOutput> {
  const { input, context, session, record } = event;
  const left = input.inBackground ? undefined : await takeEndedCheck(event, view);
  if (left !== undefined && !cursorAt(view.state, left)) return await afterCheck(event, view, { at: left });
  const position = checkAtStop(view.definition, view.state, session);
  if ('why' in position || input.inBackground) {
    logAllowed(event, view, 'why' in position ? position.why : 'background_tasks');
    return notice(event, await reportSpending(event, view));
  }
  const acted = await didAct(event);
  if (!position.gated || !acted) {
    const spent = await reportSpending(event, view);
    if (usedUp(spent.state)) return notice(event, spent);
  }
  if (!position.gated) return acted ? await remind(event, view, position) : {};
  if (!acted) {
    logAllowed(event, view, 'conversation');
    if (left === position.at) return await afterCheck(event, view, position);
    if (position.checked) await checkAgain(event, view, position);
    return stillRed(event, view, position);
  }
  const output = input.lastMessage ?? lastMessageIn(event) ?? '';
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  const request = { type: 'check', at: position.at, output, stay: endsInQuestion(output) } as const;
  const { stopCheckMs } = event.host.limits;
  const { reply } = await runtime.call(request, { session }, { run: view.run, waitMs: stopCheckMs });
  if (isRefused(reply)) {
    logAllowed(event, view, reply.code);
    // Otherwise another copy of this hook was first.
    const isNews = reply.code !== 'checking' && reply.code !== 'stale_handle';
    return isNews ? { say: `Stepfast: ${refusalText(reply, shellVoice()).message}` } : {};
  }
  // After the check: work that passes counts, even if it used up the budget.
  let after = await reportSpending(event, (await context.engine.view(view.run)) ?? view, position.at);
  const running = checkIn(after, position.at);
  if (running === undefined) return await afterCheck(event, after, position);
  record.leaveToWake(running);
  after = (await context.engine.view(view.run)) ?? after;
  if (checkIn(after, position.at) === undefined && record.takeFromWake(running))
    return await afterCheck(event, after, position);
  logAllowed(event, view, 'checking');
  return {
    say: [checkLeftText(commandsIn(after, position.at)), notice(event, after).say].filter(Boolean).join('\n'),
  };
}

/** The position of a check that an earlier stop did not wait for, and that ended in the middle of this turn. */
async function takeEndedCheck({ context, record }: HookEvent, { run }: Loaded): Promise<string | undefined> {
  const { leftToWake } = record;
  if (leftToWake.length === 0) return undefined;
  const events = (await context.engine.entries(run)).flatMap((entry) => entry.events);
  const last = events.findLast(
    (event) => event.type === 'gates.finished' || event.type === 'gates.requested',
  );
  if (last?.type !== 'gates.finished' || !leftToWake.includes(last.id)) return undefined;
  return record.takeFromWake(last.id) ? last.id.slice(0, last.id.lastIndexOf('!')) : undefined;
}

/** What follows a check that has ended: the turn continues, or the person sees what became of it. */
export async function afterCheck(
  event: HookEvent,
  view: Loaded,
  { at, ...ran }: Pick<OpenPosition, 'at'> & { command?: string | undefined },
): Promise<HookOutput> {
  const { context, record } = event;
  const cursor = cursorAt(view.state, at);
  // Its gates ran before the work, which begins now.
  const before = cursor?.checked ? undefined : cursor?.baseline;
  const command = ran.command ?? before?.map(({ what }) => what).join(', ');
  if (cursor && !cursor.waiting && !before) {
    if (usedUp(view.state)) return notice(event, view);
    if (cursor.checked?.pass) return { say: greenStaysText(titleIn(view, cursor.step)) };
    if (cursor.unstable) return stillRed(event, view, { at });
    return await continueWithFailures(event, view, at);
  }
  logAllowed(event, view, 'green');
  if (ended(view.state)) {
    // The process that ran the gates leaves the notice a moment after the run has ended.
    const notices = createEndNotices(context.project.directory);
    await waitUntil(() => notices.isLeft(event.key), noticeMs);
    return {};
  }
  if (view.state.status !== 'running') return notice(event, view);
  const { view: opened, action, instructions, next } = await openNextPosition(event, view);
  if (instructions !== undefined) return { block: handedOverText({ instructions, next, command }) };
  const left = leaveCommand(event, opened);
  if (left) return left;
  // A subagent needs nothing of the person. If the agent starts none, the next stop asks the person.
  if (action.do === 'reset_context' && !event.host.resets && record.notifyOnce(`subagent ${action.at}`))
    return { block: freshContextText(next), say: subagentFirstText(titleIn(opened, opened.state.step)) };
  return notice(event, opened);
}

async function continueWithFailures(event: HookEvent, view: Loaded, at: string): Promise<HookOutput> {
  const stops = cursorAt(view.state, at)?.stops ?? 0;
  if (stops >= maxHolds) {
    logAllowed(event, view, 'held_often');
    return stillRed(event, view, { at });
  }
  if (!(await held(event, view, at))) return {};
  const gates = (cursorAt(view.state, at)?.receipts ?? [])
    .filter(({ pass, role }) => !pass && role !== 'until')
    .map(({ what, exit, expect, tail = '' }) => ({ what, exit, expect, lines: gateExcerpt(tail) }));
  return { block: stopRedText({ gates, time: stops + 1, limit: maxHolds }) };
}

/** A step without gates: once per visit the turn continues with how to advance; later the person sees that it is open. */
async function remind(event: HookEvent, view: Loaded, { at, stops }: OpenPosition): Promise<HookOutput> {
  const step = titleIn(view, cursorAt(view.state, at)?.step ?? '');
  if (stops > 0 || !(await held(event, view, at))) {
    logAllowed(event, view, 'open');
    return { say: stepOpenText(step) };
  }
  const { next } = positionOf(view, event.context, { session: event.session, at });
  return { block: stopHeldText({ hold: true, at }, next) };
}

/** Counts a held stop; false where the run does not accept that. */
async function held({ context, session }: HookEvent, { run }: Loaded, at: string): Promise<boolean> {
  const command = { now: context.now(), session, type: 'session', event: { type: 'held', at } } as const;
  const { reply } = await context.engine.execute(run, command);
  if (isRefused(reply)) return false;
  log(context.project, context.now(), { what: 'held', run, session, why: 'unfinished' });
  return true;
}

/** Files changed without the agent: checked in the background, without any effect on the turn. */
async function checkAgain(
  { context, session }: HookEvent,
  view: Loaded,
  position: OpenPosition,
): Promise<void> {
  const { openHookRuntime } = await import('./with-files.ts');
  const runtime = openHookRuntime(context);
  const tree = await runtime.workspace.tree(view.definition, context.project.worktree);
  if (tree?.hash === undefined || tree.hash === position.checked?.tree) return;
  const request = { type: 'check', at: position.at, output: '', stay: true } as const;
  await runtime.call(request, { session }, { run: view.run, waitMs: 0 });
}

/** What is red is shown at every stop, until it is green or the run ends. */
function stillRed({ host }: HookEvent, view: Loaded, { at }: Pick<OpenPosition, 'at'>): HookOutput {
  const cursor = cursorAt(view.state, at);
  if (cursor?.checked?.pass !== false) return {};
  if (cursor.unstable) return { say: filesChangedText(titleIn(view, cursor.step), cursor.unstable) };
  const failed = cursor.receipts?.find(({ pass, role }) => !pass && role !== 'until');
  const step = titleIn(view, cursor.step);
  const cancel = cursor.stops >= maxHolds ? cancelCommand(host) : undefined;
  return { say: stillRedText(step, failed ?? { what: '' }, cancel) };
}

/** A step as the person reads it. */
const titleIn = ({ definition }: Loaded, id: string): string =>
  definition.steps.find((step) => step.id === id)?.title ?? id;

function notice(event: HookEvent, view: Loaded): HookOutput {
  const say = personNotice(view, event);
  return say === undefined ? {} : { say };
}

const logAllowed = ({ context, session }: HookEvent, { run }: Loaded, why: string): void =>
  log(context.project, context.now(), { what: 'allowed', run, session, why });

/** Where it is unknown, the gates decide. The host writes the transcript while the turn ends. */
async function didAct({ host, input }: HookEvent): Promise<boolean> {
  const { transcript, id, lastMessage } = input;
  if (transcript === undefined || id === undefined) return true;
  let acted: boolean | undefined;
  await waitUntil(() => {
    const text = endOf(transcript);
    acted = text === undefined ? undefined : host.acted?.(text, id, lastMessage);
    return acted !== undefined;
  }, transcriptMs);
  return acted ?? true;
}

/** Where the event does not have it. Written by now: the turn's tools were found. */
function lastMessageIn({ host, input: { transcript, id } }: HookEvent): string | undefined {
  const text = transcript === undefined ? undefined : endOf(transcript);
  return text === undefined || id === undefined ? undefined : host.lastMessage?.(text, id);
}

/** Markup may follow the question mark. */
const endsInQuestion = (message: string): boolean => /[?？][\s*_`"')\]]*$/.test(message);

const checkIn = (view: Loaded, at: string): string | undefined => cursorAt(view.state, at)?.checking?.id;

const commandsIn = (view: Loaded, at: string): string[] =>
  (cursorAt(view.state, at)?.checking?.gates ?? []).flatMap(({ gate }) =>
    gate.run === undefined ? [] : gateText(gate),
  );
