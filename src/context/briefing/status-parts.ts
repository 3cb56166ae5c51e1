import { type Cursor, opening, type Receipt, type Status, statusOf } from '../../machine/index.ts';
import { bounds, label, phrase } from './bounds.ts';
import { costOf, fits, lineWithin, type Measure, minus } from './measure.ts';
import type { WholePart } from './part.ts';
import { createPurse } from './purse.ts';
import type { BriefingSource } from './source.ts';
import { tellingLines } from './telling-lines.ts';
import { askFor, oneLine, passage } from './words.ts';

/** As costly as any id, so that the id can be filled in when everything else is known. */
export const idPlaceholder = 'b-7q7q7q7q';

const mostListed = 8;
const mostName: Measure = { tokens: 30, characters: 100 };
/** What says that more was known. */
const pointerRoom: Measure = { tokens: 25, characters: 100 };

interface StatusRoom {
  room: Measure;
  /** For one circumstance. */
  detail: Measure;
  /** How many that failed are told. */
  gates: number;
}

const briefed: StatusRoom = { room: bounds.status, detail: bounds.where, gates: 3 };

/** Which run, where it stands, and what comes next. */
export function statusParts(
  source: BriefingSource,
  { room, detail, gates }: StatusRoom = briefed,
): [WholePart, WholePart] {
  const { definition, state, cursor, values, session } = source;
  const status = statusOf(definition, state, { cursor, values, session });
  const purse = createPurse(minus(room, pointerRoom));
  const shownGates = (status.failed_gates ?? []).slice(0, gates);
  const hidden = (status.failed_gates?.length ?? 0) - shownGates.length;
  // Paid in the order of what must not be lost: the handle is needed whole.
  const who = purse.take(identity(source), bounds.identity);
  const handle = status.at ?? '';
  const nextText = passage(source.next);
  const needsHandle = handle !== '' && !nextText.includes(handle);
  const at = purse.take(needsHandle ? `The handle of this position is ${handle}.` : '');
  const next = purse.take(nextText, bounds.next);
  const signal = purse.take(restored(source, status), bounds.signal);
  const place = purse.take(where(source, status), bounds.where);
  const belongs = belongings(source, status).flatMap((line) => purse.take(line, phrase));
  const facts = circumstances(status, cursor).flatMap((line) => purse.take(line, detail));
  const failed = failedGates(shownGates, purse.left());
  const more =
    purse.cut() || failed.shortened || hidden > 0 ? [`More of this: ${askFor(source.more, 'status')}.`] : [];
  return [
    { name: 'run', title: 'RUN', ask: 'status', text: [...who, ...place, ...at, ...belongs].join('\n') },
    {
      name: 'action',
      title: 'ACTION REQUIRED',
      ask: 'status',
      text: [...next, ...facts, ...failed.texts, ...more, ...signal].join('\n'),
    },
  ];
}

const short = (text: string): string => lineWithin(text, label);

function identity({ state }: BriefingSource): string {
  const about = state.summary === undefined ? '' : `: ${oneLine(state.summary)}`;
  return `Briefing ${idPlaceholder} of run ${oneLine(state.run)}, workflow '${short(state.workflow)}'${about}`;
}

/** A run that was adopted tells the phase of what it was adopted from. */
function phaseIn(
  { state }: BriefingSource,
  { phase }: Status,
): { current: number; total: number; name: string } {
  return state.adopted?.phase ?? phase;
}

function where(source: BriefingSource, status: Status): string {
  const { task, subStep, subStepIndex = 0, totalSubSteps = 0, ralphIteration, ralphTotal } = status;
  const phase = phaseIn(source, status);
  const parts = [
    `phase ${phase.current}/${phase.total} '${short(phase.name)}'`,
    ...(task ? [`task ${task.index + 1}/${task.total} '${short(task.title)}'`] : []),
    ...(subStep === undefined ? [] : [`sub-step ${subStepIndex + 1}/${totalSubSteps} '${subStep}'`]),
    ...(ralphIteration === undefined ? [] : [`iteration ${ralphIteration}/${ralphTotal}`]),
  ];
  const why = status.reason === undefined ? '' : ` (${short(status.reason)})`;
  return `It is ${status.status}${why}: ${parts.join(', ')}.`;
}

function belongings({ worktree }: BriefingSource, { agent }: Status): string[] {
  return [
    ...(agent === null ? [] : [`The position is for the agent '${short(agent)}'.`]),
    ...(worktree === undefined ? [] : [`The files of its task are in ${oneLine(worktree)}`]),
  ];
}

function circumstances(status: Status, cursor: Cursor | undefined): string[] {
  const { contextAction, waiting, checking, last_failure, unstable_files, held = [], ready = [] } = status;
  return [
    ...(contextAction === undefined
      ? []
      : [`The position opens with ${contextAction}: a fresh context was asked for and has not been seen.`]),
    ...(waiting ? [waitingLine(waiting), ...underReview(cursor)] : []),
    ...(checking ? ['Its gates are running.'] : []),
    ...(last_failure === undefined ? [] : [`The visit before failed: ${oneLine(last_failure)}`]),
    ...(unstable_files ? [`The gates kept changing ${listed(unstable_files)}.`] : []),
    ...(held.length === 0
      ? []
      : [`Held: ${listed(held.map(({ task, holder }) => `${task} by ${holder ?? 'nobody'}`))}.`]),
    ...(ready.length === 0 ? [] : [`Ready to be claimed: ${listed(ready)}.`]),
  ];
}

/** What was said on escalation stands whole among the feedback. */
function waitingLine({ for: what, by, what: why }: NonNullable<Status['waiting']>): string {
  const whom = by === 'human' ? 'a person' : `the agent '${short(by)}'`;
  const handedOn = what === 'review' || what === 'budget';
  const [reason = ''] = handedOn ? oneLine(why).split(/[,;] escalated: /, 1) : [oneLine(why)];
  const escalated = reason === oneLine(why) ? '' : ', escalated';
  return `It waits for ${waitsFor[what]} by ${whom}${escalated}${what === 'review' ? '.' : `: ${reason}`}`;
}

/** What its agent said; the gates have passed. */
function underReview(cursor: Cursor | undefined): string[] {
  if (cursor?.waiting?.kind !== 'review' || cursor.output === undefined) return [];
  const gates = cursor.receipts?.filter(({ pass }) => pass).map(({ what }) => `'${short(what)}'`) ?? [];
  const passed = gates.length === 0 ? 'unverified' : `passed ${listed(gates)}`;
  return [`The instructions were carried out (${passed}): ${oneLine(opening(cursor.output))}`];
}

const waitsFor = {
  review: 'a review',
  question: 'an answer',
  blocked: 'a decision',
  budget: 'a budget review',
} as const;

/** What is left of the room goes to the outputs, in equal shares. */
function failedGates(receipts: readonly Receipt[], room: Measure): { texts: string[]; shortened: boolean } {
  let left = room;
  let shortened = false;
  const texts = receipts.flatMap(({ what, exit, tail = '' }, index) => {
    const code = exit === undefined ? '' : ` with exit ${exit}`;
    const head = `The gate '${short(what)}' failed${code}.`;
    const share = receipts.length - index;
    const free = minus(left, costOf(`${head} ${says}`));
    const most = { tokens: Math.floor(free.tokens / share), characters: Math.floor(free.characters / share) };
    const output = tellingLines(tail, most);
    shortened ||= output !== passage(tail);
    const text = output === '' ? head : `${head} ${says}\n${output}`;
    if (!fits(costOf(text), left)) return [];
    left = minus(left, costOf(text));
    return [text];
  });
  return { texts, shortened: shortened || texts.length < receipts.length };
}

const says = 'Its output says:';

/** Seed 002's line, told as what others look for. */
function restored(source: BriefingSource, status: Status): string {
  if (status.status !== 'running' && status.status !== 'waiting') return '';
  const { current, total } = phaseIn(source, status);
  const name = lineWithin(source.state.workflow, mostName);
  return `A reply with this line shows that it arrived: ✅ Workflow restored: ${name}, Phase ${current}/${total}`;
}

const listed = (items: readonly string[]): string => {
  const shown = items.slice(0, mostListed).map(short).join(', ');
  return items.length <= mostListed ? shown : `${shown} and ${items.length - mostListed} more`;
};
