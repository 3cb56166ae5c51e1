import { graphemes, isInvisible, isWide, truncate as truncateTo } from '../../../messages/index.ts';

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

/** Estimated width in pixels for common system fonts; an upper bound for characters outside the table. */
export function measure(text: string, font: FontName): number {
  const { size, mono, bold } = fonts[font];
  let em = 0;
  for (const grapheme of graphemes(text))
    em += mono ? monoWidth(grapheme) : sansWidth(grapheme) * (bold ? 1.07 : 1);
  return em * size;
}

/** Whether the estimate is accurate enough to force the text to that width in any font, as badges do. */
export const isMeasured = (text: string): boolean =>
  graphemes(text).every((grapheme) => widths.has(grapheme));

export const truncate = (text: string, room: number, font: FontName): string =>
  truncateTo(text, room, (part) => measure(part, font));

function monoWidth(grapheme: string): number {
  return isInvisible(grapheme) ? 0 : isWide(grapheme) ? wideWidth(grapheme) : 0.605;
}

function sansWidth(grapheme: string): number {
  return isInvisible(grapheme) ? 0 : isWide(grapheme) ? wideWidth(grapheme) : (widths.get(grapheme) ?? 1);
}

/** Ideographs fill a square in every font; emoji are wider. */
const wideWidth = (grapheme: string): number => (/\p{Extended_Pictographic}/u.test(grapheme) ? 1.35 : 1.02);

const widths = new Map(
  (
    [
      [0.25, "ijl' "],
      [0.29, '!,.:;I·'],
      [0.35, '()[]ft'],
      [0.38, 'r-/\\|"J`{}'],
      [0.5, '*?_z'],
      [0.53, 'cksvxy'],
      [0.57, '17FL^aeéèêáàâä'],
      [0.61, '02345689$ESTYZbdghnopquöóòôüúùû≤'],
      [0.65, '#+<=>ABKPRVX~×'],
      [0.72, 'CDGHNU&'],
      [0.77, 'OQw'],
      [0.87, '%…M'],
      [0.93, 'Wm@'],
    ] as const
  ).flatMap(([width, characters]) => graphemes(characters).map((character) => [character, width] as const)),
);
