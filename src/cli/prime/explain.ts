import type { Briefing, BriefingSection, Cap } from '../../context/index.ts';
import { columnsOf } from '../../messages/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';

const barWidth = 24;

/** The token usage of a briefing by section. */
export function explainTable({ id, sections, tokens, characters }: Briefing, cap: Cap, io: Io): string {
  const most = Math.max(1, ...sections.map((section) => section.tokens));
  const width = Math.max(...sections.map(({ title }) => columnsOf(title)));
  const lines = sections.map((section): Span[] => [
    section.title.padEnd(width + 2),
    ['cyan', bar(section.tokens / most, io).padEnd(barWidth + 1)],
    String(section.tokens).padStart(6),
    ['dim', `${Math.round((100 * section.tokens) / tokens)} %`.padStart(6)],
    ['yellow', leftOut(section)],
  ]);
  const head: Span[] = [
    ['bold', `Briefing ${id}`],
    ['dim', `  ${spent(tokens, characters, cap)}`],
  ];
  return `${[head, [], ...lines].map((line) => renderLine(line, io.stdout)).join('\n')}\n`;
}

/** `1,204 of 2,500 estimated tokens, 4,310 characters`. */
export function spent(tokens: number, characters: number, cap: Cap): string {
  const of = (most: number | undefined): string => (most === undefined ? '' : ` of ${number(most)}`);
  return `${number(tokens)}${of(cap.tokens)} estimated tokens, ${number(characters)}${of(cap.characters)} characters`;
}

export const leftOut = ({ shown, total }: BriefingSection): string =>
  shown < total ? `  ${shown} of ${total} shown, the rest on demand` : '';

const number = (value: number): string => value.toLocaleString('en-US');

function bar(share: number, { unicode }: Io): string {
  return (unicode ? '█' : '#').repeat(Math.max(1, Math.round(share * barWidth)));
}
