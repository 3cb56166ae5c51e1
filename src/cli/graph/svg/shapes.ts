import { type FontName, measure, truncate, wrapText } from './text.ts';

/** The drawing before it is serialized, which tests can inspect. */
export type Shape = Rect | Path | Text | Group;

export interface Rect {
  kind: 'rect';
  x: number;
  y: number;
  width: number;
  height: number;
  radius: number;
  look: string;
}

export interface Path {
  kind: 'path';
  d: string;
  look: string;
}

export interface Text {
  kind: 'text';
  x: number;
  y: number;
  text: string;
  font: FontName;
  look: string;
  middle: boolean;
  /** Maximum width. */
  room: number;
  /** The full text, if it is truncated. */
  whole?: string;
  /** Text that follows at a distance, wherever the text ends in the reader's font. */
  tail?: Tail;
}

export interface Tail {
  text: string;
  font: FontName;
  look: string;
  gap: number;
}

export interface Group {
  kind: 'group';
  x: number;
  y: number;
  children: Shape[];
  /** Tooltip of the group. */
  title?: string;
}

/** A part of the drawing with its own origin. */
export interface Block {
  height: number;
  shapes: Shape[];
}

export const rect = (
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number,
  look: string,
): Rect => ({
  kind: 'rect',
  x,
  y,
  width,
  height,
  radius,
  look,
});

export const path = (d: string, look: string): Path => ({ kind: 'path', d, look });

/** Truncates the text, never the tail, and adds the full text as a tooltip. */
export function text(
  at: { x: number; y: number; room: number; middle?: boolean },
  content: string,
  font: FontName,
  look: string,
  tail?: Tail,
): Text {
  const { x, y, room, middle = false } = at;
  const shown = truncate(content, room - (tail ? tail.gap + measure(tail.text, tail.font) : 0), font);
  const whole = shown === content ? {} : { whole: content };
  return { kind: 'text', x, y, room, middle, text: shown, font, look, ...whole, ...(tail && { tail }) };
}

/** The text on at most `most` lines; the last one is truncated. */
export function paragraph(
  { x, y, room, lineHeight, most }: { x: number; y: number; room: number; lineHeight: number; most: number },
  content: string,
  font: FontName,
  look: string,
): Block {
  const lines = wrapText(content, room, font);
  const shown = lines.length > most ? [...lines.slice(0, most - 1), lines.slice(most - 1).join(' ')] : lines;
  return {
    height: shown.length * lineHeight,
    shapes: shown.map((line, index): Text => {
      const { whole, ...shape } = text({ x, y: y + index * lineHeight, room }, line, font, look);
      return whole === undefined ? shape : { ...shape, whole: content };
    }),
  };
}

/** An upper bound of the width of a text shape. */
export const textWidth = ({ text, font, tail }: Pick<Text, 'text' | 'font' | 'tail'>): number =>
  measure(text, font) + (tail ? tail.gap + measure(tail.text, tail.font) : 0);

export const group = (x: number, y: number, children: Shape[], title?: string): Group => ({
  kind: 'group',
  x,
  y,
  children,
  ...(title !== undefined && { title }),
});

/** Deterministic: numbers have at most two decimals, and no ids are generated. */
export function toXml(shapes: readonly Shape[], indent = '  '): string {
  return shapes.map((shape) => `${indent}${element(shape, indent)}\n`).join('');
}

export const escapeXml = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export const px = (value: number): string => String(Number(value.toFixed(2)));

function element(shape: Shape, indent: string): string {
  switch (shape.kind) {
    case 'rect':
      return `<rect x="${px(shape.x)}" y="${px(shape.y)}" width="${px(shape.width)}" height="${px(shape.height)}" rx="${px(shape.radius)}" class="${shape.look}"/>`;
    case 'path':
      return `<path d="${shape.d}" class="${shape.look}"/>`;
    case 'text': {
      const anchor = shape.middle ? ' text-anchor="middle"' : '';
      const title = shape.whole === undefined ? '' : `<title>${escapeXml(shape.whole)}</title>`;
      const { tail } = shape;
      const after = tail
        ? `<tspan dx="${px(tail.gap)}" class="${tail.font} ${tail.look}">${escapeXml(tail.text)}</tspan>`
        : '';
      return `<text x="${px(shape.x)}" y="${px(shape.y)}"${anchor} class="${shape.font} ${shape.look}">${title}${escapeXml(shape.text)}${after}</text>`;
    }
    case 'group': {
      const title = shape.title === undefined ? '' : `${indent}  <title>${escapeXml(shape.title)}</title>\n`;
      return `<g transform="translate(${px(shape.x)} ${px(shape.y)})">\n${title}${toXml(shape.children, `${indent}  `)}${indent}</g>`;
    }
  }
}
