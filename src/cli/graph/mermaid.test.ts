import { expect, test } from 'vitest';
import { feature, hostile } from '../../../test/kit/graph-definition.ts';
import { createGraph } from '../../runtime/index.ts';
import { drawMermaid } from './mermaid.ts';

test('steps, loops and boundaries become a flowchart', () => {
  const chart = drawMermaid(createGraph(feature));
  expect(chart).toMatch(/^flowchart TD\n/);
  expect(chart).toContain('  begin -->|"/clear"| s1\n');
  expect(chart).toContain('  subgraph s2["<b>build</b> · each task · ×3"]\n');
  expect(chart).toContain('    s2_2 -. "next task" .-> s2_1\n');
  expect(chart).toContain('  s2_after -->|"/compact"| s3\n');
  expect(chart).toContain('  s3 --> s3\n');
});

test('a pivot is a label next to a loop and an arrow elsewhere', () => {
  const steps = [
    { id: 'a', type: 'action' as const },
    { id: 'b', type: 'action' as const, review: { by: 'human', on_pivot: 'a' } },
  ];
  expect(drawMermaid(createGraph({ name: 'x', description: '', steps }))).toContain(
    '  s2 -. "pivot" .-> s1\n',
  );
  expect(drawMermaid(createGraph(feature))).toContain('↩ pivot to plan');
  expect(drawMermaid(createGraph(feature))).not.toContain('.-> s1\n');
});

test('hostile text stays inside its label', () => {
  const chart = drawMermaid(createGraph(hostile));
  const outside = chart.replaceAll(/"[^"]*"/g, '""');
  expect(outside).not.toMatch(/script|alert|click|init|quot/);
  const labels = [...chart.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '');
  for (const label of labels) {
    const text = label.replaceAll(/<br\/>|<\/?b>|#\d+;/g, '');
    expect(text).toMatch(/^[\p{L}\p{N}\p{M} ,./_·×≤□✗◇↩…-]*$/u);
  }
});

test('no label contains a word that Mermaid would read as an id', () => {
  const chart = drawMermaid(
    createGraph({ name: 'end', description: '', steps: [{ id: 'end', type: 'action' }] }),
  );
  expect(chart).toContain('  s1["<b>end</b>"]:::action\n');
});
