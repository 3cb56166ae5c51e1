import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderedWidths } from '../../../test/kit/font-widths.ts';
import { attack, feature, hostile } from '../../../test/kit/graph-definition.ts';
import { xmlProblems } from '../../../test/kit/xml.ts';
import type { Definition } from '../../machine/index.ts';
import { createGraph } from '../../runtime/index.ts';
import { type Shape, type Text, textWidth } from './svg/shapes.ts';
import { fonts } from './svg/text.ts';
import { drawSvg, layOut } from './svg.ts';

const small: Definition = {
  name: 'go',
  description: '',
  steps: [{ id: 'do', type: 'action', instructions: 'x' }],
};
const many: Definition = {
  name: 'many',
  description: 'word '.repeat(200),
  steps: Array.from({ length: 12 }, (_, index) => ({
    id: `step-${index}`,
    type: index % 3 === 2 ? ('ralph' as const) : ('action' as const),
    agent: 'an-agent-with-a-very-long-name-indeed',
    instructions: 'W'.repeat(300),
    gate: [{ run: 'm'.repeat(200) }, { exists: 'W'.repeat(200) }],
    until: [{ run: 'w'.repeat(100) }],
    review: { by: 'human', on_pivot: `step-${Math.floor(index / 2)}` },
    budget: { turns: 1, on_pivot: `step-${Math.floor(index / 3)}` },
  })),
};
const all = { small, feature, many, hostile };

describe.each(Object.entries(all))('the drawing of %s', (_, definition) => {
  const graph = createGraph(definition);

  test('is well-formed', () => {
    expect(xmlProblems(drawSvg(graph))).toEqual([]);
  });

  test('is at most 860 pixels wide', () => {
    expect(layOut(graph).width).toBeLessThanOrEqual(860);
  });

  test('has no text wider than its box', () => {
    const wide = texts(layOut(graph).shapes).filter(({ text }) => textWidth(text) > text.room + 0.01);
    expect(wide).toEqual([]);
  });

  test('has no text outside the image', () => {
    const { width, height, shapes } = layOut(graph);
    for (const { text, x, y } of texts(shapes)) {
      const left = x - (text.middle ? textWidth(text) / 2 : 0);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left + textWidth(text)).toBeLessThanOrEqual(width);
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(height);
    }
  });

  test('is deterministic', () => {
    expect(drawSvg(createGraph(structuredClone(definition)))).toBe(drawSvg(graph));
  });

  test('has no scripts and no external resources', () => {
    const markup = drawSvg(graph).replaceAll(/>[^<]*</g, '><');
    expect(markup).not.toMatch(/<(script|image|foreignObject|use|a)\b|\son\w+=|href|url\(|@import/);
  });
});

const wordy: Definition = {
  name: 'wordy',
  description: 'Million women warm memories. '.repeat(12),
  agents: { 'william-the-wise-woman': { description: 'x' } },
  steps: [
    {
      id: 'make-many-warm-memories',
      type: 'ralph',
      n: 12,
      agent: 'william-the-wise-woman',
      context: 'compact',
      instructions: 'Illicit little lilies will fill it, until all of it is still; a millimeter at most.',
      gate: [{ run: 'npm run million' }, { exists: 'MEMORANDUM-OF-WOMEN.md' }],
      review: { by: 'william-the-wise-woman', on_pivot: 'make-many-warm-memories' },
      budget: { turns: 12, tokens: 400_000, minutes: 90 },
      until: [{ run: 'npm run mmm' }],
    },
  ],
};

test.each([
  ['feature', feature],
  ['wordy', wordy],
])(
  'A19: every text of %s fits its box in the widest common font and in a monospaced one',
  (_, definition) => {
    const wide = texts(layOut(createGraph(definition)).shapes).flatMap(
      ({ text: { text, font, tail, room } }) => {
        const widths = renderedWidths(text, fonts[font]).map(
          (width) => width + (tail ? tail.gap + Math.max(...renderedWidths(tail.text, fonts[tail.font])) : 0),
        );
        return Math.max(...widths) > room + 0.5 ? [{ text, room, widths }] : [];
      },
    );
    expect(wide).toEqual([]);
  },
);

test('A19: no text depends on a renderer that adjusts its length', () => {
  expect(drawSvg(createGraph(wordy))).not.toContain('textLength');
});

test('hostile text is escaped', () => {
  const svg = drawSvg(createGraph(hostile));
  expect(svg).not.toContain('<script');
  expect(svg).toContain('&#60;script&#62;');
  expect(svg.match(/<svg/g)).toHaveLength(1);
});

test('the drawing is well-formed for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const definition: Definition = {
        name: text,
        description: text,
        steps: [
          {
            id: text,
            type: 'ralph',
            agent: text,
            instructions: text,
            gate: [{ run: text }],
            until: [{ run: text }],
          },
        ],
      };
      expect(xmlProblems(drawSvg(createGraph(definition)))).toEqual([]);
    }),
  );
});

test('it has an accessible title and description', () => {
  const svg = drawSvg(createGraph(feature));
  expect(svg).toContain('role="img" aria-labelledby="stepfast-feature-title stepfast-feature-desc"');
  expect(svg).toContain('<title id="stepfast-feature-title">Workflow feature</title>');
  expect(svg).toContain('3 phases: plan, build, polish</desc>');
});

test('it has light and dark colors', () => {
  expect(drawSvg(createGraph(small))).toContain('@media (prefers-color-scheme:dark)');
});

test('a truncated text has the full text as a tooltip', () => {
  const svg = drawSvg(createGraph(many));
  expect(svg).toContain(`<title>${'W'.repeat(300)}</title>`);
});

test('the drawing shows every part of the workflow', () => {
  const shown = texts(layOut(createGraph(feature)).shapes).map(({ text }) => text.text);
  expect(shown).toEqual(
    expect.arrayContaining([
      'plan',
      'a person reviews',
      '60 turns · 400k tokens · 90 min',
      '/clear',
      'each task',
      '3 tasks at once',
      'npm test',
      'up to 5 × until',
      'npm run lint',
      'pivot',
    ]),
  );
});

test('the attack works if it is not escaped', () => {
  expect(xmlProblems(`<svg><text>${attack}</text></svg>`)).not.toEqual([]);
});

function texts(shapes: readonly Shape[], x = 0, y = 0): { text: Text; x: number; y: number }[] {
  return shapes.flatMap((shape) => {
    if (shape.kind === 'text') return [{ text: shape, x: x + shape.x, y: y + shape.y }];
    return shape.kind === 'group' ? texts(shape.children, x + shape.x, y + shape.y) : [];
  });
}
