import {
  type Cursor,
  opening,
  type Receipt,
  type Status,
  statusOf,
  stepOf,
  workAt,
} from '../../machine/index.ts';
import { baselineText, redBeforeText, redVerb, untilRedText, waitingText } from '../../messages/index.ts';
import { cleanText, escapeHeadings, oneLine, sectionPointer } from './bounded-text.ts';
import type { WholePart } from './briefing-part.ts';
import type { BriefingSource, ReadingFile } from './briefing-source.ts';
import { bounds, maxLabel } from './budget-bounds.ts';
import { failureExcerpt } from './failure-excerpt.ts';
import { costOf, fits, smaller, subtract, type TextSize, truncate, truncateLine } from './text-size.ts';
import { createTokenBudget } from './token-budget.ts';

/** As large as any id. The id is a hash of the text, so it is filled in last. */
export const idPlaceholder = 'b-7q7q7q7q';

const maxName: TextSize = { tokens: 30, characters: 100 };
/** Room for the pointer to the full status. */
const pointerRoom: TextSize = { tokens: 25, characters: 100 };

interface StatusLimits {
  room: TextSize;
  identity: TextSize;
  /** One sentence about the position. */
  detail: TextSize;
  next: TextSize;
  path: TextSize;
  /** Titles and names. */
  name: TextSize;
  /** Number of failed gates shown. */
  gates: number;
  /** Number of names in a list. */
  listed: number;
  /** Part of a briefing, which has an id and can point to the status section. */
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

/** Limits of the section on demand: everything that fits the section. */
export function unlimitedStatus(room: TextSize): StatusLimits {
  const sizes = { room, identity: room, detail: room, next: room, path: room, name: room };
  return { ...sizes, gates: Infinity, listed: Infinity, inBriefing: false };
}

/** Ids of critical artifacts whose text a briefing may leave out, and of those that it does leave out. */
interface LeftOut {
  most: readonly string[];
  now: readonly string[];
}

/** RUN and ACTION REQUIRED. */
export function statusParts(
  source: BriefingSource,
  most = briefingLimits,
  leftOut: LeftOut = { most: [], now: [] },
): [WholePart, WholePart] {
  const { definition, state, cursor, values, session } = source;
  const status = statusOf(definition, state, { cursor, values, session });
  const budget = createTokenBudget(subtract(most.room, pointerRoom));
  const shownGates = (status.failed_gates ?? []).slice(0, most.gates);
  const hidden = (status.failed_gates?.length ?? 0) - shownGates.length;
  // Most important first: the handle and the path are useless if truncated.
  const identityLine = budget.take(identity(source, most), most.identity);
  const handle = status.at ?? '';
  const nextText = escapeHeadings(source.next);
  const needsHandle = handle !== '' && !nextText.includes(handle);
  const at = budget.take(needsHandle ? `Handle: ${handle}` : '');
  // Reserves room for at least the pointer to the path.
  const kept = source.worktree === undefined ? zero : costOf(filesPointer(source));
  const next = budget.take(nextText, smaller(most.next, subtract(budget.left(), kept)));
  const files = budget.take(filesLine(source, smaller(budget.left(), most.path)));
  const works = status.status === 'running' && status.contextAction === undefined && !status.waiting;
  const read = budget.take(works ? readLine(source, most) : '', bounds.toRead);
  // Room for as many as there may be, so that what is included does not depend on the line about the rest.
  const [reserved] = budget.take(works ? loadLine(source, leftOut.most, most) : '', bounds.toLoad);
  const load = reserved === undefined ? '' : truncate(loadLine(source, leftOut.now, most), costOf(reserved));
  const signal = budget.take(arrivalLine(source, status), bounds.signal);
  const position = budget.take(where(source, status, most), most.detail);
  const agent = status.agent === null ? '' : `This position is for the agent '${short(status.agent, most)}'.`;
  const agentLine = budget.take(agent, most.detail);
  const facts = conditionLines(status, cursor, most).flatMap((line) => budget.take(line, most.detail));
  const failed = failedGates(shownGates, budget.left(), most);
  const cut = budget.cut() || failed.shortened || hidden > 0;
  const more = cut && most.inBriefing ? [`More: ${sectionPointer(source.more, 'status')}.`] : [];
  return [
    {
      name: 'run',
      text: [...identityLine, ...position, ...at, ...files, ...agentLine].join('\n'),
    },
    {
      name: 'action',
      text: [
        ...read,
        ...(load === '' ? [] : [load]),
        ...next,
        ...facts,
        ...failed.texts,
        ...more,
        ...signal,
      ].join('\n'),
    },
  ];
}

const toRead: readonly ReadingFile['state'][] = ['changed', 'unread', 'before'];

/** Required reading that this context does not have. */
function readLine({ reading }: BriefingSource, most: StatusLimits): string {
  const paths = new Set(reading.filter(({ state }) => toRead.includes(state)).map(({ path }) => path));
  return paths.size === 0 ? '' : `Read first: ${listed([...paths], most)}.`;
}

/** Critical artifacts that this context does not have. */
const loadLine = ({ more }: BriefingSource, ids: readonly string[], most: StatusLimits): string =>
  ids.length === 0 ? '' : `Load first: ${listed(ids, most)} (${sectionPointer(more, 'artifacts')}).`;

const short = (text: string, { name }: Pick<StatusLimits, 'name'>): string => truncateLine(text, name);

function identity({ state }: BriefingSource, most: StatusLimits): string {
  const about = state.summary === undefined ? '' : `: ${oneLine(state.summary)}`;
  const run = `${oneLine(state.run)}, workflow '${short(state.workflow, most)}'${about}`;
  return most.inBriefing ? `Briefing ${idPlaceholder} of run ${run}` : `Run ${run}`;
}

/** An adopted run shows the phase of the workflow that it was adopted from. */
function phaseIn(
  { state }: BriefingSource,
  { phase }: Status,
): { current: number; total: number; name: string } {
  return state.adopted?.phase ?? phase;
}

function where(source: BriefingSource, status: Status, most: StatusLimits): string {
  const { task, subStep, subStepIndex = 0, totalSubSteps = 0, ralphIteration, ralphTotal } = status;
  const phase = phaseIn(source, status);
  const titled = phase.name === stepOf(source.definition, status.step).title;
  const parts = [
    `phase ${phase.current}/${phase.total} '${short(phase.name, most)}'${titled ? ` (step ${status.step})` : ''}`,
    ...(task ? [`task ${task.index + 1}/${task.total} '${short(task.title, most)}'`] : []),
    ...(subStep === undefined
      ? []
      : [`sub-step ${subStepIndex + 1}/${totalSubSteps} ${namedSubStep(source, subStep, most)}`]),
    ...(ralphIteration === undefined ? [] : [`iteration ${ralphIteration}/${ralphTotal}`]),
  ];
  const why = status.reason === undefined ? '' : ` (${short(status.reason, most)})`;
  return `Status: ${status.status}${why}, ${parts.join(', ')}.`;
}

function namedSubStep({ definition, cursor }: BriefingSource, id: string, most: StatusLimits): string {
  const title = cursor && workAt(definition, cursor).title;
  return title === undefined ? `'${short(id, most)}'` : `'${short(title, most)}' (${short(id, most)})`;
}

/** A truncated path is useless, so a pointer replaces it. */
function filesLine({ worktree, more }: BriefingSource, room: TextSize): string {
  if (worktree === undefined) return '';
  const line = `Task files: ${oneLine(worktree)}`;
  return fits(costOf(line), room) ? line : filesPointer({ more });
}

const filesPointer = ({ more }: Pick<BriefingSource, 'more'>): string =>
  `Path of the task files: ${sectionPointer(more, 'status')}.`;

const zero: TextSize = { tokens: 0, characters: 0 };

function conditionLines(status: Status, cursor: Cursor | undefined, most: StatusLimits): string[] {
  const { contextAction, waiting, checking, last_failure, red_until, unstable_files, baseline } = status;
  const { held = [] } = status;
  return [
    ...(contextAction === undefined
      ? []
      : [`This position starts with ${contextAction}: a fresh context was requested but not confirmed yet.`]),
    ...(waiting ? [waitingLine(waiting, most), ...reviewLines(cursor, most)] : []),
    ...(checking ? [checkingLine(cursor)] : []),
    ...(last_failure === undefined ? [] : [`The previous visit failed: ${oneLine(last_failure)}`]),
    ...(red_until
      ? [
          untilRedText(
            red_until.map(({ what }) => short(what, most)),
            waiting !== undefined,
          ),
        ]
      : []),
    ...(baseline && !status.failed_gates
      ? [
          `Before the work began: ${baselineText(baseline.map(({ what, pass }) => ({ what: short(what, most), pass })))}.`,
        ]
      : []),
    ...(unstable_files ? [`The gates kept changing ${listed(unstable_files, most)}.`] : []),
    ...(held.length === 0
      ? []
      : [
          `Held: ${listed(
            held.map(({ task, holder }) => (holder === undefined ? task : `${task} by ${holder}`)),
            most,
          )}.`,
        ]),
  ];
}

/** Repeats the output, so that an agent that lost its context can send it again. */
function checkingLine(cursor: Cursor | undefined): string {
  const output = cursor?.checking ? oneLine(opening(cursor.checking.output)) : '';
  const when = cursor?.preparing ? ' before the work begins' : '';
  return `Its gates are running${when}.${output === '' ? '' : ` Output: ${output}`}`;
}

/** Drops the escalation text: the feedback part shows it in full. */
function waitingLine(waiting: NonNullable<Status['waiting']>, most: StatusLimits): string {
  const whom = waiting.by === 'human' ? 'a person' : `the agent '${short(waiting.by, most)}'`;
  const escalated = 'escalated' in waiting && waiting.escalated !== undefined ? ', escalated' : '';
  const { escalated: _, ...plain } = { escalated: undefined, ...waiting };
  const reason = waiting.for === 'review' ? '.' : `: ${oneLine(waitingText(plain))}`;
  return `Waiting for ${waitNames[waiting.for]} by ${whom}${escalated}${reason}`;
}

/** The output under review; its gates have passed. */
function reviewLines(cursor: Cursor | undefined, most: StatusLimits): string[] {
  if (cursor?.waiting?.kind !== 'review' || cursor.output === undefined) return [];
  const gates = cursor.receipts?.filter(({ pass }) => pass).map(({ what }) => `'${short(what, most)}'`) ?? [];
  const passed = gates.length === 0 ? 'unverified' : `passed ${listed(gates, most)}`;
  return [`Work done (${passed}): ${oneLine(opening(cursor.output))}`];
}

const waitNames = {
  review: 'a review',
  question: 'an answer',
  blocked: 'a decision',
  budget: 'a budget review',
} as const;

/** The outputs share the remaining room equally. */
function failedGates(
  receipts: readonly Receipt[],
  room: TextSize,
  names: StatusLimits,
): { texts: string[]; shortened: boolean } {
  let left = room;
  let shortened = false;
  const texts = receipts.flatMap(({ what, exit, expect, before, tail = '' }, index) => {
    const code = exit === undefined ? '' : ` with exit ${exit}`;
    const head = `The gate '${short(what, names)}' ${redVerb({ expect })}${code}${before ? `, and ${redBeforeText(before)}` : ''}.`;
    const share = receipts.length - index;
    const free = subtract(left, costOf(`${head} ${outputLabel}`));
    const most = { tokens: Math.floor(free.tokens / share), characters: Math.floor(free.characters / share) };
    const whole = quoted(tail);
    const output = failureExcerpt(whole, most);
    shortened ||= output !== whole;
    const text = output === '' ? head : `${head} ${outputLabel}\n${output}`;
    if (!fits(costOf(text), left)) return [];
    left = subtract(left, costOf(text));
    return [text];
  });
  return { texts, shortened: shortened || texts.length < receipts.length };
}

const outputLabel = 'Output:';

/** Quotes every line, so that no output line looks like an instruction. */
const quoted = (output: string): string => cleanText(output).replace(/^(?=.*\S)/gm, '> ');

/** The confirmation line that seed 002 requires. */
function arrivalLine(source: BriefingSource, status: Status): string {
  if (status.status !== 'running' && status.status !== 'waiting') return '';
  const { current, total } = phaseIn(source, status);
  const name = truncateLine(source.state.workflow, maxName);
  return `A reply with this line confirms receipt: ✅ Workflow restored: ${name}, Phase ${current}/${total}`;
}

const listed = (items: readonly string[], most: StatusLimits): string => {
  const shown = items.slice(0, most.listed).map((each) => short(each, most));
  const rest = items.length - shown.length;
  return `${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
};
