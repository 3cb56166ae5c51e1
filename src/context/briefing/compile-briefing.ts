import { createHash } from 'node:crypto';
import { estimateTokens, formatHandle } from '../../machine/index.ts';
import { artifactsPart, inlinable, notInContext } from './artifacts-part.ts';
import { sectionPointer } from './bounded-text.ts';
import {
  type BriefingPart,
  type ListedPart,
  type PartName,
  partInfo,
  type WholePart,
} from './briefing-part.ts';
import type { BriefingSource, SectionName } from './briefing-source.ts';
import { differencesPart } from './differences-part.ts';
import { donePart } from './done-part.ts';
import { instructionsPart } from './instructions-part.ts';
import { notesPart } from './notes-part.ts';
import { onDemandPart } from './on-demand-part.ts';
import { readingPart } from './reading-part.ts';
import { questionsPart, remindersPart, variablesPart } from './reminders-part.ts';
import { createSeenLines } from './seen-lines.ts';
import { splitBudget } from './split-budget.ts';
import { idPlaceholder, statusParts } from './status-parts.ts';
import { tasksPart } from './tasks-part.ts';
import { costOf, subtract, sum, type TextSize } from './text-size.ts';

/** The size limit of a host or workflow; absent means unlimited. */
export interface Cap {
  /** Estimated. */
  tokens?: number | undefined;
  characters?: number | undefined;
}

/** A compiled briefing. `text` and `markdown` are within the cap. */
export interface Briefing {
  /** `b-` and eight characters of a hash of the content. */
  id: string;
  run: string;
  /** The handle of the position. */
  at?: string | undefined;
  /** Estimated from the markdown form, which is larger than the text form. */
  tokens: number;
  characters: number;
  sections: BriefingSection[];
  /** Ids of the critical artifacts whose text is included. */
  inlined: string[];
  /** Ids of the critical artifacts that are included as a line or as text. */
  listed: string[];
  text: string;
  markdown: string;
}

export interface BriefingSection {
  name: PartName;
  title: string;
  /** The section that shows it in full on demand. */
  ask: SectionName;
  text: string;
  tokens: number;
  characters: number;
  /** Number of items; a section that is never shortened counts as one. */
  shown: number;
  total: number;
}

/**
 * Compiles a briefing: the same source and cap give the same bytes. Never fails: with a cap below `leastBriefing` the
 * required parts stay whole and `tokens` exceeds the cap.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate, nextForTools, WorkflowStateMachine } from 'stepfast';
 * import { compileBriefing } from 'stepfast/context';
 *
 * const machine = new WorkflowStateMachine(loadWorkflowTemplate('feature'), { inputs: { request: 'CSV export' } });
 * const [cursor] = Object.values(machine.state.cursors);
 * const { text, tokens } = compileBriefing(
 *   {
 *     definition: machine.template,
 *     state: machine.state,
 *     ...(cursor ? { cursor } : {}),
 *     values: { project_root: process.cwd() },
 *     now: Date.now(),
 *     next: nextForTools(machine.getStatus().action),
 *     more: 'show_section {section}',
 *     reading: [],
 *     artifacts: [],
 *   },
 *   { tokens: 4000 },
 * );
 * console.log(tokens, text);
 * ```
 */
export function compileBriefing(source: BriefingSource, cap: Cap): Briefing {
  const { state, cursor, more } = source;
  const absent = notInContext(source);
  const { whole, listed } = partsOf(source, { most: absent, now: absent });
  const closing = `Any section in full: ${sectionPointer(more, 'NAME')}.`;
  const first = whole.map((part) => ({ part, text: part.text, cost: costOf(part.text), shown: 1, total: 1 }));
  const empty = [...whole, ...listed].map((part) => ({ part, text: '' }));
  const frame = sum(costOf(render(empty, [closing], markdownTitle)), ...first.map(({ cost }) => cost));
  const { tokens = Infinity, characters = Infinity } = cap;
  const filled = splitBudget(listed, inlinable(source), subtract({ tokens, characters }, frame));
  const included = new Set(filled.flatMap((each) => each.inlined));
  const left = absent.filter((id) => !included.has(id));
  const [, action] = statusParts(source, undefined, { most: absent, now: left });
  const withoutId = [
    ...first.map((each) =>
      each.part.name === 'action' ? { ...each, text: action.text, part: action } : each,
    ),
    ...filled.map(({ lines, ...rest }) => ({ ...rest, text: lines.join('\n'), total: rest.part.total })),
  ];
  const last = withoutId.some(
    ({ part, text, shown, total }) => shown < total || part.name === 'artifacts' || text.includes('…'),
  )
    ? [closing]
    : [];
  const id = idOf(render(withoutId, last, markdownTitle));
  const shown = withoutId.map((each) => ({ ...each, text: withId(each, id) }));
  const markdown = render(shown, last, markdownTitle);
  return {
    id,
    run: state.run,
    at: cursor && formatHandle(state.run, cursor.path, cursor.visit),
    tokens: estimateTokens(markdown),
    characters: markdown.length,
    sections: shown.map(section),
    inlined: filled.flatMap((each) => each.inlined),
    listed: filled.flatMap((each) => each.listed),
    text: render(shown, last, (title) => title),
    markdown,
  };
}

/** All parts, most important first. */
function partsOf(
  source: BriefingSource,
  leftOut: Parameters<typeof statusParts>[2],
): { whole: WholePart[]; listed: ListedPart[] } {
  const seen = createSeenLines();
  const [run, action] = statusParts(source, undefined, leftOut);
  const notes = notesPart(source, seen);
  const instructions = instructionsPart(source, costOf(notes.text), seen);
  const listed = [
    differencesPart(source),
    donePart(source, seen),
    readingPart(source),
    remindersPart(source, seen),
    variablesPart(source),
    questionsPart(source),
    artifactsPart(source),
    tasksPart(source),
    onDemandPart(source),
  ];
  return {
    whole: [run, action, instructions, notes].filter(({ text }) => text !== ''),
    listed: listed.filter(({ total }) => total > 0),
  };
}

interface RenderedPart {
  part: BriefingPart;
  text: string;
  cost: TextSize;
  shown: number;
  total: number;
}

const markdownTitle = (title: string): string => `## ${title}`;

const render = (
  sections: readonly Pick<RenderedPart, 'part' | 'text'>[],
  last: readonly string[],
  title: (text: string) => string,
): string =>
  [...sections.map(({ part, text }) => `${title(partInfo[part.name].title)}\n${text}`), ...last].join('\n\n');

const withId = ({ part, text }: RenderedPart, id: string): string =>
  part.name === 'run' ? text.replace(idPlaceholder, id) : text;

const section = ({ part, text, cost, shown, total }: RenderedPart): BriefingSection => ({
  name: part.name,
  ...partInfo[part.name],
  text,
  tokens: cost.tokens,
  characters: text.length,
  shown,
  total,
});

const digits = 'abcdefghijklmnopqrstuvwxyz234567';

function idOf(content: string): string {
  const bytes = createHash('sha256').update(content).digest();
  const letters = Array.from(bytes.subarray(0, 8), (byte) => digits.charAt(byte % digits.length));
  return `b-${letters.join('')}`;
}
