import { type Cursor, opening, type Receipt, type Status, statusOf } from '../../machine/index.ts';
import { cleanText, escapeHeadings, oneLine, sectionPointer } from './bounded-text.ts';
import type { WholePart } from './briefing-part.ts';
import type { BriefingSource } from './briefing-source.ts';
import { bounds, maxLabel } from './budget-bounds.ts';
import { failureExcerpt } from './failure-excerpt.ts';
import { costOf, fits, smaller, subtract, type TextSize, truncateLine } from './text-size.ts';
import { createTokenBudget } from './token-budget.ts';

/** As costly as any id, so that the id can be filled in when everything else is known. */
export const idPlaceholder = 'b-7q7q7q7q';

const maxName: TextSize = { tokens: 30, characters: 100 };
/** What says that more was known. */
const pointerRoom: TextSize = { tokens: 25, characters: 100 };

interface StatusLimits {
  room: TextSize;
  identity: TextSize;
  /** For one circumstance. */
  detail: TextSize;
  next: TextSize;
  path: TextSize;
  /** Titles and names. */
  name: TextSize;
  /** How many that failed are told. */
  gates: number;
  /** How many names a list has. */
  listed: number;
  /** Whether it is part of a briefing, which has an id, and a section that tells more. */
  inBriefing: boolean;
}

const briefingLimits: StatusLimits = {
  room: bounds.status,
  identity: bounds.identity,
  detail: bounds.where,
  next: bounds.next,
  path: bounds.path,
  name: maxLabel,
  gates: 3,
  listed: 8,
  inBriefing: true,
};

/** For the section alone: everything, as far as a section holds it. */
export function unlimitedStatus(room: TextSize): StatusLimits {
  const all = Infinity;
  return {
    room,
    identity: room,
    detail: room,
    next: room,
    path: room,
    name: room,
    gates: all,
    listed: all,
    inBriefing: false,
  };
}

/** Which run, where it stands, and what comes next. */
export function statusParts(source: BriefingSource, most = briefingLimits): [WholePart, WholePart] {
  const { definition, state, cursor, values, session } = source;
  const status = statusOf(definition, state, { cursor, values, session });
  const purse = createTokenBudget(subtract(most.room, pointerRoom));
  const shownGates = (status.failed_gates ?? []).slice(0, most.gates);
  const hidden = (status.failed_gates?.length ?? 0) - shownGates.length;
  // Paid in the order of what must not be lost: the handle and the path of its files are needed whole.
  const who = purse.take(identity(source, most), most.identity);
  const handle = status.at ?? '';
  const nextText = escapeHeadings(source.next);
  const needsHandle = handle !== '' && !nextText.includes(handle);
  const at = purse.take(needsHandle ? `The handle of this position is ${handle}.` : '');
  // Where the files are is told at least by its pointer.
  const kept = source.worktree === undefined ? zero : costOf(filesPointer(source));
  const next = purse.take(nextText, smaller(most.next, subtract(purse.left(), kept)));
  const files = purse.take(filesLine(source, smaller(purse.left(), most.path)));
  const signal = purse.take(arrivalLine(source, status), bounds.signal);
  const place = purse.take(where(source, status, most), most.detail);
  const agent = status.agent === null ? '' : `The position is for the agent '${short(status.agent, most)}'.`;
  const belongs = purse.take(agent, most.detail);
  const facts = conditionLines(status, cursor, most).flatMap((line) => purse.take(line, most.detail));
  const failed = failedGates(shownGates, purse.left(), most);
  const cut = purse.cut() || failed.shortened || hidden > 0;
  const more = cut && most.inBriefing ? [`More of this: ${sectionPointer(source.more, 'status')}.`] : [];
  return [
    {
      name: 'run',
      title: 'RUN',
      ask: 'status',
      text: [...who, ...place, ...at, ...files, ...belongs].join('\n'),
    },
    {
      name: 'action',
      title: 'ACTION REQUIRED',
      ask: 'status',
      text: [...next, ...facts, ...failed.texts, ...more, ...signal].join('\n'),
    },
  ];
}

const short = (text: string, { name }: Pick<StatusLimits, 'name'>): string => truncateLine(text, name);

function identity({ state }: BriefingSource, most: StatusLimits): string {
  const about = state.summary === undefined ? '' : `: ${oneLine(state.summary)}`;
  const run = `${oneLine(state.run)}, workflow '${short(state.workflow, most)}'${about}`;
  return most.inBriefing ? `Briefing ${idPlaceholder} of run ${run}` : `Run ${run}`;
}

/** A run that was adopted tells the phase of what it was adopted from. */
function phaseIn(
  { state }: BriefingSource,
  { phase }: Status,
): { current: number; total: number; name: string } {
  return state.adopted?.phase ?? phase;
}

function where(source: BriefingSource, status: Status, most: StatusLimits): string {
  const { task, subStep, subStepIndex = 0, totalSubSteps = 0, ralphIteration, ralphTotal } = status;
  const phase = phaseIn(source, status);
  const parts = [
    `phase ${phase.current}/${phase.total} '${short(phase.name, most)}'`,
    ...(task ? [`task ${task.index + 1}/${task.total} '${short(task.title, most)}'`] : []),
    ...(subStep === undefined
      ? []
      : [`sub-step ${subStepIndex + 1}/${totalSubSteps} '${short(subStep, most)}'`]),
    ...(ralphIteration === undefined ? [] : [`iteration ${ralphIteration}/${ralphTotal}`]),
  ];
  const why = status.reason === undefined ? '' : ` (${short(status.reason, most)})`;
  return `It is ${status.status}${why}: ${parts.join(', ')}.`;
}

/** Half a path is none. */
function filesLine({ worktree, more }: BriefingSource, room: TextSize): string {
  if (worktree === undefined) return '';
  const line = `The files of its task are in ${oneLine(worktree)}`;
  return fits(costOf(line), room) ? line : filesPointer({ more });
}

const filesPointer = ({ more }: Pick<BriefingSource, 'more'>): string =>
  `Where the files of its task are: ${sectionPointer(more, 'status')}.`;

const zero: TextSize = { tokens: 0, characters: 0 };

function conditionLines(status: Status, cursor: Cursor | undefined, most: StatusLimits): string[] {
  const { contextAction, waiting, checking, last_failure, unstable_files, held = [], ready = [] } = status;
  return [
    ...(contextAction === undefined
      ? []
      : [`The position opens with ${contextAction}: a fresh context was asked for and has not been seen.`]),
    ...(waiting ? [waitingLine(waiting, most), ...reviewLines(cursor, most)] : []),
    ...(checking ? [checkingLine(cursor)] : []),
    ...(last_failure === undefined ? [] : [`The visit before failed: ${oneLine(last_failure)}`]),
    ...(unstable_files ? [`The gates kept changing ${listed(unstable_files, most)}.`] : []),
    ...(held.length === 0
      ? []
      : [
          `Held: ${listed(
            held.map(({ task, holder }) => `${task} by ${holder ?? 'nobody'}`),
            most,
          )}.`,
        ]),
    ...(ready.length === 0 ? [] : [`Ready to be claimed: ${listed(ready, most)}.`]),
  ];
}

/** Whoever forgot what it said can say it again. */
function checkingLine(cursor: Cursor | undefined): string {
  const said = cursor?.checking ? oneLine(opening(cursor.checking.output)) : '';
  return `Its gates are running.${said === '' ? '' : ` Said: ${said}`}`;
}

/** What was said on escalation stands whole among the feedback. */
function waitingLine(
  { for: what, by, what: why }: NonNullable<Status['waiting']>,
  most: StatusLimits,
): string {
  const whom = by === 'human' ? 'a person' : `the agent '${short(by, most)}'`;
  const handedOn = what === 'review' || what === 'budget';
  const [reason = ''] = handedOn ? oneLine(why).split(/[,;] escalated: /, 1) : [oneLine(why)];
  const escalated = reason === oneLine(why) ? '' : ', escalated';
  return `It waits for ${waitsFor[what]} by ${whom}${escalated}${what === 'review' ? '.' : `: ${reason}`}`;
}

/** What its agent said; the gates have passed. */
function reviewLines(cursor: Cursor | undefined, most: StatusLimits): string[] {
  if (cursor?.waiting?.kind !== 'review' || cursor.output === undefined) return [];
  const gates = cursor.receipts?.filter(({ pass }) => pass).map(({ what }) => `'${short(what, most)}'`) ?? [];
  const passed = gates.length === 0 ? 'unverified' : `passed ${listed(gates, most)}`;
  return [`The instructions were carried out (${passed}): ${oneLine(opening(cursor.output))}`];
}

const waitsFor = {
  review: 'a review',
  question: 'an answer',
  blocked: 'a decision',
  budget: 'a budget review',
} as const;

/** What is left of the room goes to the outputs, in equal shares. */
function failedGates(
  receipts: readonly Receipt[],
  room: TextSize,
  names: StatusLimits,
): { texts: string[]; shortened: boolean } {
  let left = room;
  let shortened = false;
  const texts = receipts.flatMap(({ what, exit, tail = '' }, index) => {
    const code = exit === undefined ? '' : ` with exit ${exit}`;
    const head = `The gate '${short(what, names)}' failed${code}.`;
    const share = receipts.length - index;
    const free = subtract(left, costOf(`${head} ${says}`));
    const most = { tokens: Math.floor(free.tokens / share), characters: Math.floor(free.characters / share) };
    const whole = quoted(tail);
    const output = failureExcerpt(whole, most);
    shortened ||= output !== whole;
    const text = output === '' ? head : `${head} ${says}\n${output}`;
    if (!fits(costOf(text), left)) return [];
    left = subtract(left, costOf(text));
    return [text];
  });
  return { texts, shortened: shortened || texts.length < receipts.length };
}

const says = 'Its output says:';

/** So that no line of an output passes for one of ours. */
const quoted = (output: string): string => cleanText(output).replace(/^(?=.*\S)/gm, '> ');

/** Seed 002's line, told as what others look for. */
function arrivalLine(source: BriefingSource, status: Status): string {
  if (status.status !== 'running' && status.status !== 'waiting') return '';
  const { current, total } = phaseIn(source, status);
  const name = truncateLine(source.state.workflow, maxName);
  return `A reply with this line shows that it arrived: ✅ Workflow restored: ${name}, Phase ${current}/${total}`;
}

const listed = (items: readonly string[], most: StatusLimits): string => {
  const shown = items.slice(0, most.listed).map((each) => short(each, most));
  const rest = items.length - shown.length;
  return `${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
};
