import { opening } from '../../machine/index.ts';
import { artifactsText } from './artifacts-text.ts';
import { escapeHeadings, oneLine } from './bounded-text.ts';
import { partInfo } from './briefing-part.ts';
import type { BriefingSource, SectionName } from './briefing-source.ts';
import { maxArtifacts, maxItem, maxSection } from './budget-bounds.ts';
import { differencesPart } from './differences-part.ts';
import { donePart, newestOutputs } from './done-part.ts';
import { feedbackIn, tagged } from './feedback.ts';
import { instructionsIn } from './instructions-part.ts';
import { noteLines } from './notes-part.ts';
import { readingPart } from './reading-part.ts';
import { questionsPart, remindersPart, variablesPart } from './reminders-part.ts';
import { createSeenLines } from './seen-lines.ts';
import { statusParts, unlimitedStatus } from './status-parts.ts';
import { tasksPart } from './tasks-part.ts';
import { costOf, fits, subtract, sum, type TextSize, truncate } from './text-size.ts';

/** More items than any section can hold. */
const maxItems = 5000;
const maxLongItem: TextSize = { tokens: 2000, characters: 8000 };
const maxStatus: TextSize = { tokens: 12_000, characters: 48_000 };

/** One section in full, up to the size that hosts accept in one piece. A truncated section says so. */
export function briefingSection(
  source: BriefingSource,
  name: SectionName,
  { artifacts }: { artifacts?: readonly string[] } = {},
): string {
  const wanted = artifacts
    ? { ...source, artifacts: source.artifacts.filter(({ id }) => artifacts.includes(id)) }
    : source;
  const nothing = `This run has nothing under '${name}'.`;
  if (name === 'artifacts') return artifactsText(wanted.artifacts, wanted.more, maxArtifacts).text || nothing;
  const blocks = sections[name](wanted).filter(({ lines }) => lines.length > 0);
  return blocks.length === 0 ? nothing : within(blocks, maxSection);
}

interface Block {
  title: string;
  lines: readonly string[];
}

const sections: Record<Exclude<SectionName, 'artifacts'>, (source: BriefingSource) => Block[]> = {
  status: (source) => [
    ...statusParts(source, unlimitedStatus(maxStatus)).map(({ name, text }) =>
      block(partInfo[name].title, [text]),
    ),
    block('ENVIRONMENT CHANGES', differencesPart(source, maxLongItem).items),
  ],
  instructions: (source) => [block('INSTRUCTIONS', [instructionsIn(source)])],
  notes: (source) => {
    const seen = createSeenLines();
    return [
      block('FEEDBACK', feedback(source)),
      block('NOTES', noteLines(source, maxSection, seen)),
      block('KEY REMINDERS', remindersPart(source, seen, maxLongItem).items),
      block('CONTEXT VARIABLES', variablesPart(source, { most: maxLongItem, all: true }).items),
      block('QUESTIONS AND ANSWERS', questionsPart(source, { quote: maxLongItem, all: true }).items),
    ];
  },
  done: (source) => [block('DONE', donePart(source, createSeenLines(), maxItems).items)],
  reading: (source) => [block('REQUIRED READING', readingPart(source).items)],
  tasks: (source) => [block('TASKS', tasksPart(source).items)],
  todo: ({ state, todo }) => [block('TO-DO LIST', [escapeHeadings(todo ?? opening(state.todo ?? ''))])],
  outputs: (source) => [
    ...newestOutputs(source.state, maxItems).map(([key, { text }]) =>
      block(`OUTPUT ${oneLine(key)}`, [escapeHeadings(source.outputs?.[key] ?? opening(text))]),
    ),
    block(
      'ARTIFACTS',
      source.state.artefacts.map((path) => truncate(`- ${oneLine(path)}`, maxItem)),
    ),
  ],
};

const block = (title: string, lines: Iterable<string>): Block => ({
  title,
  lines: [...lines].filter((line) => line !== ''),
});

/** All review feedback, newest first, with the plan that each pivot replaced. */
function feedback(source: BriefingSource): string[] {
  const { pivots } = source.state;
  const last = pivots.at(-1)?.feedback;
  const open = feedbackIn(source).filter(({ text }) => text !== last);
  return [
    ...open.map(tagged),
    ...pivots
      .toReversed()
      .flatMap(({ tag, feedback: text, from, to, plan }) => [
        tagged({ tag, text }),
        `The run went back from '${oneLine(from)}' to '${oneLine(to)}'.`,
        ...(plan === undefined ? [] : [`The plan before that pivot:\n${escapeHeadings(opening(plan))}`]),
      ]),
  ];
}

const cut = 'Truncated: a section holds about 15,000 tokens.';

function within(blocks: readonly Block[], room: TextSize): string {
  const free = subtract(room, costOf(`\n${cut}`));
  const parts: string[] = [];
  let spent: TextSize = { tokens: 0, characters: 0 };
  for (const { title, lines } of blocks) {
    for (const [index, line] of lines.entries()) {
      const text = index === 0 ? `${parts.length === 0 ? '' : '\n'}${title}\n${line}` : line;
      const next = sum(spent, costOf(text));
      if (!fits(next, free)) {
        // A block with a single text is truncated; a block of many lines drops the line.
        const rest = lines.length === 1 ? [truncate(text, subtract(free, spent))] : [];
        return [...parts, ...rest, `\n${cut}`].join('\n');
      }
      parts.push(text);
      spent = next;
    }
  }
  return parts.join('\n');
}
