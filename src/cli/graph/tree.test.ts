import { expect, test } from 'vitest';
import { feature, hostile } from '../../../test/kit/graph-definition.ts';
import { columnsOf } from '../../messages/text.ts';
import { createGraph } from '../../runtime/index.ts';
import { drawMermaid } from './mermaid.ts';
import { drawTree } from './tree.ts';

const pipe = { write: () => {}, colour: false };

test('the tree shows steps, sub-steps, gates, reviews, budgets, boundaries and pivots', () => {
  expect(
    drawTree(createGraph(feature), pipe, true),
  ).toBe(`feature  implementation · 3 phases · inputs issue, note? · holds until done
Plan, build and review a feature

┆ /clear
● plan  action
│ Write the plan to {project_root}/PLAN.md
│ artefacts
│ □ PLAN.md exists
│ □ read docs/a.md, docs/b.md
│ ◇ review by human  ↩ plan
│ ≤ 60 turns · 400k tokens · 90 min
┆ /clear
↻ build  loop · each task · ×3
│ ≤ 1 turn  ↩ plan
├─╮
│ ○ implement
│ │ Implement {task.title}.
│ │ ✗ up to 3 attempts
│ ┆ /compact
│ ○ verify · reviewer
│ │ Review the change.
│ │ read only
│ │ □ npm test
│ │ □ outputs.plan != null
│ │ ✗ a failure skips the task
├─╯ next task
┆ /compact before each round
◎ polish  ralph · ≤5 until npm run lint
  Improve the weakest part.
`);
});

test('without Unicode the tree is ASCII', () => {
  expect(drawTree(createGraph(feature), pipe, false)).toMatch(/^[\x20-\x7e\n]*$/);
});

test('no line is wider than the terminal', () => {
  for (const columns of [20, 40, 80]) {
    const lines = drawTree(createGraph(hostile), { ...pipe, columns }, true).split('\n');
    expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([]);
  }
});

test('workflow texts cannot inject terminal escape codes', () => {
  expect(drawTree(createGraph(hostile), pipe, true)).not.toContain('\u001b');
});

test('A19: no drawing of a workflow marks a gate as passed', () => {
  const graph = createGraph(feature);
  for (const drawing of [drawTree(graph, pipe, true), drawMermaid(graph)]) {
    expect(drawing).not.toContain('✓');
    expect(drawing).toContain('□ npm test');
  }
});
