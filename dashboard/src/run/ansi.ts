/** A line of terminal output, and the style in which it begins. */
export interface Line {
  raw: string;
  state: string;
}

export interface Piece {
  text: string;
  style: Style;
}

export interface Style {
  /** One of the sixteen colors of a terminal. */
  color: number | undefined;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

const escapeSequence =
  /\u001b(?:\[([0-9;:]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|.)/g;
const control = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;

const plain: Style = {
  color: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

const switches: Record<number, Partial<Style>> = {
  0: plain,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { color: undefined },
};

function apply(style: Style, codes: string): void {
  const list = codes === '' ? [0] : codes.split(/[;:]/).map(Number);
  for (let i = 0; i < list.length; i++) {
    const code = list[i] ?? 0;
    if (switches[code]) Object.assign(style, switches[code]);
    else if (code >= 30 && code <= 37) style.color = code - 30;
    else if (code >= 90 && code <= 97) style.color = code - 82;
    else if (code === 38 || code === 48) {
      // Of 256 and true colors only the first sixteen are shown: they are readable in both themes.
      const isIndexed = list[i + 1] === 5;
      const index = isIndexed ? list[i + 2] : undefined;
      if (code === 38 && index !== undefined && index < 16) style.color = index;
      i += isIndexed ? 2 : 4;
    }
  }
}

/** One pass over the text, so that any line can be shown alone. */
export function linesOf(text: string): Line[] {
  const style = { ...plain };
  return text.split('\n').map((full) => {
    // Of a progress bar that was overwritten, the last state counts.
    const raw = full.replace(/\r$/, '').replace(/^.*\r/s, '');
    const state = JSON.stringify(style);
    for (const [, codes, final] of full.matchAll(escapeSequence))
      if (final === 'm') apply(style, codes ?? '');
    return { raw, state };
  });
}

export function piecesOf({ raw, state }: Line): Piece[] {
  const style: Style = { ...plain, ...JSON.parse(state) };
  const pieces: Piece[] = [];
  let at = 0;
  const push = (to: number): void => {
    const text = raw.slice(at, to).replace(control, '');
    if (text) pieces.push({ text, style: { ...style } });
  };
  for (const match of raw.matchAll(escapeSequence)) {
    push(match.index);
    if (match[2] === 'm') apply(style, match[1] ?? '');
    at = match.index + match[0].length;
  }
  push(raw.length);
  return pieces;
}

export const textOf = ({ raw }: Pick<Line, 'raw'>): string =>
  raw.replace(escapeSequence, '').replace(control, '');
