import { fieldIn, type Line } from './markdown-lines.ts';

export interface Phase {
  current: number;
  total: number;
  name: string;
}

const longestName = 200;
const most = 9999;
/** `4/10 - SEO`, `4 of 10: SEO`, `4 (of 10) SEO`, `Phase 4/10 (SEO)`, `[4/10] SEO`. */
const counted =
  /^(?:phase\s+)?\[?(\d{1,4})\s*(?:\/|\(?(?:of|out of)\b)\s*(\d{1,4})[\])]?\s*[-–—:.,|]*\s*(.*)$/i;
/** `4 - SEO`: the total comes from the headings. */
const numbered = /^(?:phase\s+)?(\d{1,4})(?!\d|[./]\d)\s*[-–—:.,|]*\s*(.*)$/i;
const heading = /^phase\s+(\d{1,4})\b\s*[-–—:.,]*\s*(.*)$/i;

/** The current phase; undefined if the text does not number it. */
export function phaseIn(lines: readonly Line[]): Phase | undefined {
  const said = fieldIn(lines, 'phase') ?? inline(lines);
  const [, current, total, name = ''] = counted.exec(said ?? '') ?? [];
  if (current !== undefined && total !== undefined) return phase(Number(current), Number(total), name);
  const headings = headingsIn(lines);
  const last = Math.max(0, ...headings.map(({ number }) => number));
  const [, only, called = ''] = numbered.exec(said ?? '') ?? [];
  if (only !== undefined) {
    const named = called || headings.find(({ number }) => number === Number(only))?.name || '';
    return last > 0 ? phase(Number(only), last, named) : undefined;
  }
  const open =
    headings.find(({ state }) => state === 'open') ?? headings.find(({ state }) => state !== 'done');
  return said === undefined && open ? phase(open.number, last, open.name) : undefined;
}

/** `Phase 4/10 - SEO` without a colon. */
const inline = (lines: readonly Line[]): string | undefined =>
  lines
    .find(({ plain }) => /^(?:current\s+)?phase\s+\d+\s*(?:\/|of\b)/i.test(plain))
    ?.plain.replace(/^current\s+/i, '');

interface PhaseHeading {
  number: number;
  name: string;
  state: 'done' | 'open' | 'unknown';
}

/** `## Phase 2: Build 🔄`, or with a status in the lines below it. */
function headingsIn(lines: readonly Line[]): PhaseHeading[] {
  return lines.flatMap(({ plain, level }, index) => {
    const [, number, name = ''] = (level === undefined ? undefined : heading.exec(plain)) ?? [];
    if (number === undefined) return [];
    const after = lines.slice(index + 1);
    const end = after.findIndex((line) => line.level !== undefined);
    const said = [plain, ...(end < 0 ? after : after.slice(0, end)).map((line) => line.plain)].join('\n');
    const state = said.includes('🔄') ? 'open' : /✅|☑/u.test(plain) || isDone(said) ? 'done' : 'unknown';
    return [{ number: Number(number), name, state }];
  });
}

const isDone = (section: string): boolean => /^status\s*[:|].*(?:✅|\bcompleted?\b|\bdone\b)/im.test(section);

function phase(current: number, total: number, name: string): Phase | undefined {
  if (current < 1 || total < 1 || current > most || total > most) return undefined;
  const words = name
    .replace(/^\((.*)\)$/, '$1')
    .replaceAll(/[🔄✅⬜☑]\uFE0F?/gu, '')
    .trim()
    .slice(0, longestName);
  return { current, total: Math.max(current, total), name: words === '' ? `Phase ${current}` : words };
}
