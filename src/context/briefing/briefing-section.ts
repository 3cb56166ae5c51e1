import { opening } from '../../machine/index.ts';
import { artifactsText } from './artifacts-text.ts';
import { escapeHeadings, oneLine } from './bounded-text.ts';
import type { BriefingSource, SectionName } from './briefing-source.ts';
import { maxItem, maxSection } from './budget-bounds.ts';
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

/** More of them than fit. */
const most = 5000;
const long: TextSize = { tokens: 2000, characters: 8000 };
const status: TextSize = { tokens: 12_000, characters: 48_000 };

/** One section in full, as far as a host takes a text whole; it says so where that is not all. */
export function briefingSection(
  source: BriefingSource,
  name: SectionName,
  { artifacts }: { artifacts?: readonly string[] } = {},
): string {
  const wanted = artifacts
    ? { ...source, artifacts: source.artifacts.filter(({ id }) => artifacts.includes(id)) }
    : source;
  const nothing = `This run has nothing under '${name}'.`;
  if (name === 'artifacts') return artifactsText(wanted.artifacts, wanted.more, maxSection).text || nothing;
  const blocks = sections[name](wanted).filter(({ lines }) => lines.length > 0);
  return blocks.length === 0 ? nothing : within(blocks, maxSection);
}

interface Block {
  title: string;
  lines: readonly string[];
}

const sections: Record<Exclude<SectionName, 'artifacts'>, (source: BriefingSource) => Block[]> = {
  status: (source) => [
    ...statusParts(source, unlimitedStatus(status)).map(({ title, text }) => ({ title, lines: [text] })),
    block('NOT AS IT WAS', differencesPart(source, long).items),
  ],
  instructions: (source) => [block('INSTRUCTIONS', [instructionsIn(source)])],
  notes: (source) => {
    const said = createSeenLines();
    return [
      block('FEEDBACK', feedback(source)),
      block('NOTES', noteLines(source, maxSection, said)),
      block('KEY REMINDERS', remindersPart(source, said, long).items),
      block('CONTEXT VARIABLES', variablesPart(source, { most: long, all: true }).items),
      block('QUESTIONS AND ANSWERS', questionsPart(source, { quote: long, all: true }).items),
    ];
  },
  done: (source) => [block('DONE', donePart(source, createSeenLines(), most).items)],
  reading: (source) => [block('REQUIRED READING', readingPart(source).items)],
  tasks: (source) => [block('TASKS', tasksPart(source).items)],
  todo: ({ state, todo }) => [block('TO-DO LIST', [escapeHeadings(todo ?? opening(state.todo ?? ''))])],
  outputs: (source) => [
    ...newestOutputs(source.state, most).map(([key, { text }]) =>
      block(`OUTPUT ${oneLine(key)}`, [escapeHeadings(source.outputs?.[key] ?? opening(text))]),
    ),
    block(
      'ARTEFACTS',
      source.state.artefacts.map((path) => truncate(`- ${oneLine(path)}`, maxItem)),
    ),
  ],
};

const block = (title: string, lines: Iterable<string>): Block => ({
  title,
  lines: [...lines].filter((line) => line !== ''),
});

/** All that reviewers said, the newest first, with what each pivot kept. */
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
        ...(plan === undefined ? [] : [`The plan before it:\n${escapeHeadings(opening(plan))}`]),
      ]),
  ];
}

const cut = 'The text ends here: a section holds about 15,000 tokens.';

function within(blocks: readonly Block[], room: TextSize): string {
  const free = subtract(room, costOf(`\n${cut}`));
  const parts: string[] = [];
  let spent: TextSize = { tokens: 0, characters: 0 };
  for (const { title, lines } of blocks) {
    for (const [index, line] of lines.entries()) {
      const text = index === 0 ? `${parts.length === 0 ? '' : '\n'}${title}\n${line}` : line;
      const next = sum(spent, costOf(text));
      if (!fits(next, free)) {
        // A text that stands alone is cut; a line of many is left out.
        const rest = lines.length === 1 ? [truncate(text, subtract(free, spent))] : [];
        return [...parts, ...rest, `\n${cut}`].join('\n');
      }
      parts.push(text);
      spent = next;
    }
  }
  return parts.join('\n');
}
