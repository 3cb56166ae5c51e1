import { type Event, isRunStep, parseHandle, type Receipt, type Text } from '../../machine/index.ts';
import {
  count,
  describeEvent,
  greenNowText,
  mergeFailedText,
  openingOf,
  untilRedText,
} from '../../messages/index.ts';
import { positionTitle, shortTitle, taskTitle } from '../../runtime/index.ts';
import type { Loaded } from '../../store/index.ts';
import type { Span } from '../paint.ts';
import type { Symbols } from '../view/symbols.ts';

/** What a person reads of a run that goes on by itself: less than `stepfast log` has, with titles in place of ids. */
export interface RunLines {
  /** Undefined where the event says nothing new to a person. */
  lineOf(event: Event, view: Loaded): Span[] | undefined;
}

/** Every session has them. */
const unread: readonly Event['type'][] = [
  'run.started',
  'driver.taken',
  'session.started',
  'session.ended',
  'artifacts.loaded',
  'boundary.requested',
  'merge.queued',
];

/** `entries`: also says when work begins somewhere, which a terminal shows below the lines. */
export function createRunLines(symbols: Symbols, { entries }: { entries: boolean }): RunLines {
  const { done, bad, here, waits } = symbols;
  /** What was claimed when the gates were asked for, by the id of the check. */
  const claims = new Map<string, { at: string; output: Text }>();
  return {
    lineOf(event, view) {
      if (unread.includes(event.type)) return undefined;
      const place = 'at' in event && event.at !== undefined ? placeOf(view, event.at) : '';
      const named = 'task' in event && event.task !== undefined ? taskOf(view, event.task) : '';
      switch (event.type) {
        case 'position.entered': {
          if (!entries || event.preparing === 'when' || event.preparing === 'tasks') return undefined;
          const parts = [event.step, event.task ?? event.iteration, event.subStep];
          return [['cyan', `${here} ${placeOf(view, parts.filter((part) => part !== undefined).join('/'))}`]];
        }
        case 'position.prepared':
          return entries ? [['cyan', `${here} ${place}`]] : undefined;
        case 'position.completed':
          return [
            ['green', `${done} ${place}`],
            ...evidenceOf(event.receipts),
            ...(isRun(view, event.at) ? [] : dim(openingOf(event.output))),
          ];
        case 'gates.requested':
          claims.set(event.id, event);
          return undefined;
        case 'gates.finished': {
          const claim = claims.get(event.id);
          claims.delete(event.id);
          if (event.pass || event.receipts.every(({ role }) => role === 'baseline')) return undefined;
          return [
            ['red', `${bad} ${claim ? placeOf(view, claim.at) : ''}`],
            `  ${event.receipts
              .filter(({ pass }) => !pass)
              .map(redOf)
              .join(', ')}`,
            ...(claim && openingOf(claim.output) !== '' ? dim(`said “${openingOf(claim.output)}”`) : []),
          ];
        }
        case 'review.requested':
          return [
            ['yellow', `${waits} ${place}`],
            `  ${event.by === 'human' ? 'waits for your review' : `is reviewed by ${event.by}`}`,
          ];
        case 'review.decided':
          return [['magenta', `${event.verdict} ${place}`], ...dim(event.feedback)];
        case 'tasks.set':
          return [
            count(event.tasks.length, 'task'),
            ...dim(event.tasks.map(({ id, title }) => shortTitle(title ?? id)).join(', ')),
          ];
        case 'merge.finished':
          return [['green', `${done} ${named}`], '  merged'];
        case 'merge.failed':
          return [
            ['red', `${bad} ${named}`],
            '  not merged: ',
            mergeFailedText(event),
            ...dim('back to an agent'),
          ];
        case 'merge.parked':
          return [['red', `${waits} ${named}`], '  parked', ...dim(event.reason)];
        case 'boundary.reset':
          return [`${event.saw === 'new' ? 'fresh context' : 'context compacted'} for ${place}`];
        case 'note.added':
          return event.kind === 'artefact' ? undefined : describeEvent(event, symbols, view.definition);
        case 'briefing.delivered':
          return event.proven === 'none' ? describeEvent(event, symbols, view.definition) : undefined;
        default:
          return describeEvent(event, symbols, view.definition);
      }
    },
  };
}

/** A position by its titles. */
export function placeOf({ definition, state }: Loaded, at: string): string {
  const [step = '', part, subStep] = (parseHandle(at)?.path ?? at).split('/', 3);
  const isRalph = definition.steps.some(({ id, type }) => id === step && type === 'ralph');
  if (part === undefined) return positionTitle(definition, state, { step });
  const rest = isRalph
    ? { iteration: Number(part) }
    : { task: part, ...(subStep === undefined ? {} : { subStep }) };
  return positionTitle(definition, state, { step, ...rest });
}

export const taskOf = ({ state }: Loaded, id: string): string => taskTitle(state, id);

function isRun({ definition }: Loaded, at: string): boolean {
  const id = at.slice(at.indexOf(':') + 1).replace(/[/#].*$/, '');
  const step = definition.steps.find((each) => each.id === id);
  return step !== undefined && isRunStep(step);
}

function evidenceOf(receipts: readonly Receipt[]): Span[] {
  const red = receipts.filter(({ pass, role }) => !pass && role === 'until').map(({ what }) => what);
  const green = receipts
    .filter(({ pass, role }) => pass && role !== 'baseline')
    .map(({ what, before }) => (before === undefined ? what : `${what} ${greenNowText(before)}`));
  return [
    green.length === 0 ? (['yellow', '  unverified'] as const) : `  ${green.join(', ')}`,
    ...(red.length === 0 ? [] : [['yellow', `  ${untilRedText(red)}`] as const]),
  ];
}

const redOf = ({ what, exit }: Receipt): string => (exit === undefined ? what : `${what} exit ${exit}`);

const dim = (text: string | undefined): Span[] =>
  text === undefined || text === '' ? [] : [['dim', `  ${text}`]];
