import { graphemes, isInvisible, isWide, truncate as truncateTo, wrap } from '../../../messages/index.ts';

export interface Font {
  size: number;
  mono: boolean;
  bold: boolean;
}

/** All fonts of the drawing; the style sheet uses the same table. */
export const fonts = {
  name: { size: 21, mono: false, bold: true },
  description: { size: 13.5, mono: false, bold: false },
  id: { size: 15, mono: false, bold: true },
  sub: { size: 13.5, mono: false, bold: true },
  about: { size: 13, mono: false, bold: false },
  kind: { size: 11.5, mono: false, bold: false },
  chip: { size: 11.5, mono: false, bold: false },
  code: { size: 11.5, mono: true, bold: false },
  label: { size: 11.5, mono: false, bold: true },
} as const satisfies Record<string, Font>;

export type FontName = keyof typeof fonts;

/** An upper bound of the width in pixels: in DejaVu Sans, the widest common font, and in a monospaced one. */
export function measure(text: string, font: FontName): number {
  const { size, mono, bold } = fonts[font];
  let [sans, fixed] = [0, 0];
  for (const grapheme of graphemes(text)) {
    sans += sansWidth(grapheme) * (bold ? 1.13 : 1);
    fixed += monoWidth(grapheme);
  }
  return (mono ? fixed : Math.max(sans, fixed)) * size;
}

export const truncate = (text: string, room: number, font: FontName): string =>
  truncateTo(text, room, (part) => measure(part, font));

export const wrapText = (text: string, room: number, font: FontName): string[] =>
  wrap(text, room, (part) => measure(part, font));

function monoWidth(grapheme: string): number {
  return isInvisible(grapheme) ? 0 : isWide(grapheme) ? wideWidth(grapheme) : 0.61;
}

function sansWidth(grapheme: string): number {
  return isInvisible(grapheme) ? 0 : isWide(grapheme) ? wideWidth(grapheme) : (widths.get(grapheme) ?? 1);
}

/** Ideographs fill a square in every font; emoji are wider. */
const wideWidth = (grapheme: string): number => (/\p{Extended_Pictographic}/u.test(grapheme) ? 1.35 : 1.02);

/** Of DejaVu Sans, rounded up. */
const widths = new Map(
  (
    [
      [0.28, "'ijl"],
      [0.32, ' ,.·’‘IJ'],
      [0.36, 'f/:;\\|'],
      [0.42, '-()[]t!r'],
      [0.5, '"*_`–'],
      [0.56, '“”?szLcç'],
      [0.6, 'Fkvxy'],
      [0.62, 'PTYaeoéèêáàâäöóòô'],
      [0.64, '$0123456789ESbdghnpqu{}üúùûßñ'],
      [0.7, 'KABCRVXZ'],
      [0.78, 'UHN&DG'],
      [0.84, 'OQw#+<=>^~≤×→'],
      [0.88, 'M'],
    ] as const
  ).flatMap(([width, characters]) => graphemes(characters).map((character) => [character, width] as const)),
);
