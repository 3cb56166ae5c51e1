import { fonts } from './text.ts';

/** Light and dark color. Classes instead of CSS variables, which some image renderers do not support. */
const tones = {
  canvas: ['#f6f8fa', '#0d1117'],
  card: ['#ffffff', '#171d26'],
  rule: ['#d1d9e0', '#343c47'],
  ink: ['#1f2328', '#e9eef4'],
  muted: ['#59636e', '#9aa4b0'],
  flow: ['#8c959f', '#6b7683'],
  action: ['#0969da', '#4493f8'],
  loop: ['#8250df', '#ab7df8'],
  run: ['#2c6e63', '#56b6a5'],
  ralph: ['#9a6700', '#d9a02b'],
  gate: ['#475569', '#a3b1c6'],
  done: ['#1a7f37', '#3fb950'],
  review: ['#bf3989', '#e275ad'],
  boundary: ['#0b7285', '#3bc9db'],
  pivot: ['#bc4c00', '#f0883e'],
} as const;

export type Tone = keyof typeof tones;

const sans = "ui-sans-serif,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

/** `fill-TONE` and `line-TONE` set the color of a shape. */
export function styleSheet(): string {
  return [
    '.stepfast text{white-space:pre}',
    ...Object.entries(fonts).map(
      ([name, font]) =>
        `.stepfast .${name}{font-size:${font.size}px;font-weight:${font.bold ? 600 : 400};font-family:${font.mono ? mono : sans}}`,
    ),
    '.stepfast .stroke{fill:none;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}',
    '.stepfast .thin{stroke-width:1.25}',
    '.stepfast .dashed{stroke-dasharray:4 4}',
    '.stepfast .wash{fill-opacity:.1}',
    '.stepfast .tint{fill-opacity:.05}',
    '.stepfast .soft{stroke-opacity:.4}',
    colorRules(0),
    `@media (prefers-color-scheme:dark){\n${colorRules(1)}\n.stepfast .wash{fill-opacity:.16}\n}`,
  ].join('\n');
}

const colorRules = (mode: 0 | 1): string =>
  Object.entries(tones)
    .map(
      ([tone, pair]) =>
        `.stepfast .fill-${tone}{fill:${pair[mode]}}.stepfast .line-${tone}{stroke:${pair[mode]}}`,
    )
    .join('\n');
