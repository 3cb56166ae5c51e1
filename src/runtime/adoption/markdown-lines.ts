/** Markdown as lines without emphasis, so that `**Phase**: 4/10` reads like `Phase: 4/10`. */
export interface Line {
  text: string;
  plain: string;
  /** Of a heading: 1 to 6. */
  level?: number;
  fenced: boolean;
}

/** Longer files are cut: they are not written by hand. */
const mostLines = 5000;
const longestLine = 2000;

export function linesOf(text: string): Line[] {
  let fence: string | undefined;
  const lines = text.split('\n', mostLines).map((line) => line.slice(0, longestLine));
  return lines.map((line) => {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1]?.slice(0, 3);
    const fenced = fence !== undefined || mark !== undefined;
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    const level = fenced ? undefined : /^\s{0,3}(#{1,6})\s/.exec(line)?.[1]?.length;
    return { text: line, plain: plainOf(line), ...(level === undefined ? {} : { level }), fenced };
  });
}

const plainOf = (line: string): string =>
  line
    .replaceAll(/\*\*|__|`/g, '')
    .replace(/^[\s>|*+-]+/, '')
    .replace(/^\[[ x]\]\s+/i, '')
    .replace(/^#{1,6}\s+/, '')
    .replace(/^\*|\*$/g, '')
    .trim();

/** The value of `Name:`, `Name |` or `**Name**:`, from the first line that has one. */
export function fieldIn(lines: readonly Line[], name: string): string | undefined {
  const field = new RegExp(`^(?:current\\s+)?${name}\\s*[:|]\\s*(.*?)\\s*\\|?$`, 'i');
  for (const { plain } of lines) {
    const value = field.exec(plain)?.[1];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** From a line to the next heading that is not below it. */
export function sectionFrom(lines: readonly Line[], start: number): Line[] {
  const level = lines[start]?.level ?? 6;
  const end = lines.findIndex(
    (line, index) => index > start && line.level !== undefined && line.level <= level,
  );
  return lines.slice(start, end < 0 ? undefined : end);
}
