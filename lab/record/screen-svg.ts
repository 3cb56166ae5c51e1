/** Renders a terminal screen as SVG, with real text and the colors of its escape sequences. */

interface Look {
  colour?: string | undefined;
  background?: string | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

interface Run extends Look {
  text: string;
  column: number;
}

const cell = { width: 8.4, height: 18, font: 14 };
const frame = { pad: 16, bar: 44 };
const paper = '#16181d';
const ink = '#d7dae0';
const basic = [
  ...['#3b4048', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  ...['#7f8794', '#ef8f97', '#b5d99c', '#f0d197', '#8cc5f5', '#d7a1e7', '#7fd0da', '#ffffff'],
];
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequence = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|[\x0e\x0f]/g;

export interface Panel {
  title: string;
  /** Includes escape sequences. */
  screen: string;
}

/** Windows stacked vertically, each with its title. */
export function screensSvg(panels: readonly Panel[], columns: number): string {
  const width = Math.ceil(columns * cell.width) + 2 * frame.pad;
  let top = 0;
  const windows = panels.map(({ title, screen }) => {
    const rows = linesOf(screen);
    const height = frame.bar + rows.length * cell.height + frame.pad;
    const drawn = windowAt(top, { width, height, title, rows });
    top += height + 18;
    return drawn;
  });
  const height = top - 18;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(panels.map(({ title }) => title).join('; '))}">`,
    `<style>text{font:${cell.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${ink};white-space:pre}</style>`,
    ...windows,
    '</svg>\n',
  ].join('\n');
}

interface Window {
  width: number;
  height: number;
  title: string;
  rows: readonly (readonly Run[])[];
}

function windowAt(top: number, { width, height, title, rows }: Window): string {
  const dots = ['#e06c75', '#e5c07b', '#98c379'].map(
    (colour, index) => `<circle cx="${20 + index * 18}" cy="17" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<g transform="translate(0 ${top})">`,
    `<rect width="${width}" height="${height}" rx="9" fill="${paper}"/>`,
    ...dots,
    `<text x="${width / 2}" y="22" text-anchor="middle" fill="#9aa1ad" style="fill:#9aa1ad">${escaped(title)}</text>`,
    ...rows.map((runs, row) => rowAt(frame.bar + row * cell.height, runs)),
    '</g>',
  ].join('\n');
}

function rowAt(top: number, runs: readonly Run[]): string {
  const x = (column: number): string => (frame.pad + column * cell.width).toFixed(1);
  const boxes = runs
    .filter(({ background, inverse }) => background !== undefined || inverse)
    .map(({ background, inverse, colour, column, text }) => {
      const fill = inverse ? (colour ?? ink) : background;
      return `<rect x="${x(column)}" y="${top}" width="${(widthOf(text) * cell.width).toFixed(1)}" height="${cell.height}" fill="${fill}"/>`;
    });
  const texts = runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, column, ...look }) => {
      const blank = text.length - text.trimStart().length;
      const shown = text.trim();
      const length = (widthOf(shown) * cell.width).toFixed(1);
      return `<text x="${x(column + blank)}" y="${top + 13.5}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${styleOf(look)}>${escaped(shown)}</text>`;
    });
  return [...boxes, ...texts].join('');
}

function styleOf({ colour, background, bold, dim, italic, underline, inverse }: Look): string {
  const fill = inverse ? (background ?? paper) : colour;
  const rules = [
    ...(fill === undefined ? [] : [`fill:${fill}`]),
    ...(bold ? ['font-weight:bold'] : []),
    ...(dim ? ['opacity:.65'] : []),
    ...(italic ? ['font-style:italic'] : []),
    ...(underline ? ['text-decoration:underline'] : []),
  ];
  return rules.length === 0 ? '' : ` style="${rules.join(';')}"`;
}

/** Drops empty lines at the end. */
function linesOf(screen: string): Run[][] {
  let look: Look = {};
  const lines = screen.split('\n').map((line) => {
    const runs: Run[] = [];
    let column = 0;
    let from = 0;
    const add = (text: string): void => {
      if (text === '') return;
      runs.push({ ...look, text, column });
      column += widthOf(text);
    };
    for (const match of line.matchAll(sequence)) {
      add(line.slice(from, match.index));
      from = match.index + match[0].length;
      if (match[1] !== undefined) look = after(look, match[1]);
    }
    add(line.slice(from));
    return runs;
  });
  while (lines.at(-1)?.every(({ text, background }) => text.trim() === '' && background === undefined))
    lines.pop();
  return lines;
}

/** Select Graphic Rendition: the parameters of the escape code `m`. */
function after(look: Look, codes: string): Look {
  const numbers = codes.split(/[;:]/).map(Number);
  let next = look;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(numbers.slice(at + 1));
      next = code === 38 ? { ...next, colour } : { ...next, background: colour };
      at += used;
    } else next = simple(next, code);
  }
  return next;
}

const styles: Readonly<Record<number, Look>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { colour: undefined },
  49: { background: undefined },
};

function simple(look: Look, code: number): Look {
  if (code === 0) return {};
  const [kind, index] = [Math.floor(code / 10), code % 10];
  const color = basic[kind < 9 ? index : index + 8];
  if (index < 8 && (kind === 3 || kind === 9)) return { ...look, colour: color };
  if (index < 8 && (kind === 4 || kind === 10)) return { ...look, background: color };
  return { ...look, ...styles[code] };
}

/** Parses `5;n` (256 colors) or `2;r;g;b`, and returns how many numbers it used. */
function extended([kind, a = 0, b = 0, c = 0]: readonly number[]): [colour: string, used: number] {
  if (kind === 2) return [`rgb(${a},${b},${c})`, 4];
  if (a < 16) return [basic[a] ?? ink, 2];
  if (a > 231) return [grey(8 + (a - 232) * 10), 2];
  const level = (index: number): number => (index === 0 ? 0 : 55 + index * 40);
  const cube = a - 16;
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
  return [`rgb(${red},${green},${blue})`, 2];
}

const grey = (value: number): string => `rgb(${value},${value},${value})`;

/** Cells: wide characters take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) continue;
    width +=
      (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xffdc) || isEmoji(code) ? 2 : 1;
  }
  return width;
}

const isEmoji = (code: number): boolean =>
  code === 0x2705 || code === 0x274c || (code >= 0x1f300 && code <= 0x1faff);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
