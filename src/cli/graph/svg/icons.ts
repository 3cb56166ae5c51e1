import { group, path, type Shape } from './shapes.ts';

/** Icons on a 14 × 14 grid; `solid` icons are filled, the others are stroked. */
const icons = {
  action: { solid: true, d: 'M4.6 2.9Q4.6 2 5.4 2.5L11 6.3Q11.9 7 11 7.7L5.4 11.5Q4.6 12 4.6 11.1Z' },
  run: { solid: false, d: 'M2.6 3.4 6 7 2.6 10.6M7.4 10.8H11.6' },
  loop: { solid: false, d: 'M11.4 7.6A4.5 4.5 0 1 1 10.2 3.9L11.6 5.3M11.7 2.4V5.4H8.7' },
  ralph: { solid: false, d: 'M7 2.2A4.8 4.8 0 1 1 2.2 7M4.6 7A2.4 2.4 0 1 0 7 4.6' },
  /** An empty check box: a picture of a workflow says nothing about a result. */
  gate: {
    solid: false,
    d: 'M4.4 2.6H9.6A1.8 1.8 0 0 1 11.4 4.4V9.6A1.8 1.8 0 0 1 9.6 11.4H4.4A1.8 1.8 0 0 1 2.6 9.6V4.4A1.8 1.8 0 0 1 4.4 2.6Z',
  },
  person: {
    solid: true,
    d: 'M7 6.9A2.7 2.7 0 1 0 7 1.5A2.7 2.7 0 0 0 7 6.9ZM1.9 12.5C1.9 9.8 4 8.2 7 8.2S12.1 9.8 12.1 12.5Z',
  },
  budget: { solid: false, d: 'M7 2.2A4.9 4.9 0 1 1 6.99 2.2M7 4.4V7.2L8.9 8.5' },
  failure: { solid: false, d: 'M7 2.4 12.3 11.6H1.7ZM7 6V8.4M7 10V10.05' },
  artefacts: { solid: false, d: 'M3.2 2H8L10.8 4.8V12H3.2ZM7.8 2.2V5H10.6' },
  readOnly: { solid: false, d: 'M3 6.3H11V11.8H3ZM4.7 6.3V4.6A2.3 2.3 0 0 1 9.3 4.6V6.3' },
  agent: { solid: false, d: 'M2.6 5H11.4V11.6H2.6ZM7 5V2.6M5.2 7.7V8.7M8.8 7.7V8.7' },
  parallel: { solid: false, d: 'M3.2 3V11M7 3V11M10.8 3V11' },
  when: { solid: false, d: 'M7 1.9 12.1 7 7 12.1 1.9 7Z' },
  input: { solid: false, d: 'M2 7H9M6.2 4 9.2 7 6.2 10M12 2.6V11.4' },
} as const;

export type IconName = keyof typeof icons;

export function icon(name: IconName, x: number, y: number, tone: string): Shape {
  const { solid, d } = icons[name];
  return group(x, y, [path(d, solid ? `fill-${tone}` : `stroke line-${tone}`)]);
}
