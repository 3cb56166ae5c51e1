import type { Definition } from '../../machine/index.ts';
import { fieldIn, type Line, linesOf, sectionFrom } from './markdown-lines.ts';
import { type Phase, phaseIn } from './parse-phase.ts';
import { readingIn } from './parse-reading.ts';

/** A workflow that was described in a file and started without Stepfast. */
export interface WorkflowDescription {
  name: string;
  phase?: Phase;
  /** Each with `@`. */
  reading: string[];
  text: string;
  type?: NonNullable<Definition['type']>;
  reminders?: string[];
  variables?: { name: string; value: string }[];
  /** The file says that the work is complete. */
  complete: boolean;
}

interface SourceText {
  text: string;
  exists(path: string): boolean;
}

const longestName = 200;
const longestText = 1500;
export const markers = ['WORKFLOW STATE', 'workflow:', 'Phase:'] as const;
const inProgress = /🔄\uFE0F?[\s*_`]*in[\s_-]*progress/iu;

/** Which of the markers a file lacks; letter case and emphasis do not matter. */
export function missingMarkers(text: string): string[] {
  const plain = text.replaceAll(/\*\*|__|`/g, '').toLowerCase();
  return markers.filter((marker) => !plain.includes(marker.toLowerCase()));
}

/** `CLAUDE.local.md`: undefined unless all three markers are there. */
export function describedByMarkers({ text, exists }: SourceText): WorkflowDescription | undefined {
  if (missingMarkers(text).length > 0) return undefined;
  const all = linesOf(text);
  const start = all.findIndex(({ plain }) => /workflow state/i.test(plain));
  if (start < 0) return undefined;
  // Only this section is stored: the rest of the file may be private.
  const section = sectionFrom(all, start);
  const lines = fieldIn(section, 'workflow') === undefined ? all : section;
  const name = fieldIn(lines, 'workflow') ?? 'workflow';
  const phase = phaseIn(lines);
  return {
    name: name.slice(0, longestName),
    ...(phase ? { phase } : {}),
    reading: readingIn(lines, exists),
    text: [`Workflow: ${name.slice(0, longestName)}`, rest(section)].join('\n\n').trim(),
    complete: isComplete(fieldIn(lines, 'status')),
  };
}

/** A plan: undefined unless it is in progress and mentions phases or a workflow. */
export function describedByPlan(
  { text, exists }: SourceText,
  folder: string,
  path: string,
): WorkflowDescription | undefined {
  if (!isPlanInProgress(text)) return undefined;
  const lines = linesOf(text);
  const title = lines.find(({ level }) => level === 1)?.plain;
  const name = (fieldIn(lines, 'workflow') ?? title ?? folder).slice(0, longestName);
  const phase = phaseIn(lines);
  const at = phase
    ? lines.findIndex(
        ({ level, plain }) =>
          level !== undefined && new RegExp(`^phase\\s+${phase.current}\\b`, 'i').test(plain),
      )
    : -1;
  const reading = readingIn(lines, exists).filter((each) => each !== `@${path}`);
  return {
    name,
    ...(phase ? { phase } : {}),
    reading: [`@${path}`, ...reading],
    text: [`Workflow: ${name}`, at < 0 ? '' : bounded(sectionFrom(lines, at))].join('\n\n').trim(),
    complete: false,
  };
}

export function isPlanInProgress(text: string): boolean {
  if (!inProgress.test(text) || !/phase|workflow/i.test(text)) return false;
  const status = planStatus(text);
  return status === undefined || inProgress.test(status);
}

/** It says so: a plan that is paused, blocked or being rewritten is not complete. */
export const isPlanComplete = (text: string): boolean => isComplete(planStatus(text));

/** The status before the first section wins over a status further down. */
function planStatus(text: string): string | undefined {
  const lines = linesOf(text);
  const parts = lines.findIndex(({ level = 0 }) => level >= 2);
  return fieldIn(parts < 0 ? lines : lines.slice(0, parts), 'status');
}

const isComplete = (status: string | undefined): boolean =>
  status !== undefined &&
  /✅|\bcompleted?\b|\bdone\b|\bfinished\b/iu.test(status) &&
  !/\b(?:not|in|un)[\s-]*(?:yet\s+)?(?:progress|complete|done|finished)/i.test(status);

/** The lines that are not fields or reading. */
function rest(lines: readonly Line[]): string {
  const kept = lines.filter(
    ({ text, plain }) =>
      !/workflow state/i.test(plain) &&
      !/^(?:current\s+)?(?:workflow|phase)\s*[:|]/i.test(plain) &&
      !/^[\s>*+-]*@\S+\s*$/.test(text),
  );
  return bounded(kept);
}

/** Cut at the end of a line. */
function bounded(lines: readonly Line[]): string {
  const whole = lines
    .map(({ text }) => text.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  if (whole.length <= longestText) return whole;
  const cut = whole.slice(0, longestText);
  const end = cut.lastIndexOf('\n');
  return `${(end > longestText / 2 ? cut.slice(0, end) : cut).trimEnd()}\n…`;
}
