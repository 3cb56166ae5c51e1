import { expect, test } from 'vitest';
import { definitionProblem } from './check-resolved.ts';
import { parseWorkflow } from './parse.ts';

const workflow = (steps: unknown[], own: object = {}): object => ({
  name: 'big',
  description: 'd',
  steps,
  ...own,
});
const steps = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ id: `s${index}`, type: 'action', instructions: 'x' }));

test('[S1] a resolved definition that the schema refuses is not looked at any further', () => {
  // A step that is given twice would come first, as codes are sorted.
  const twice = (count: number): object => workflow([...steps(count), ...steps(1)]);
  expect(definitionProblem(twice(200))).toBe('steps has more than 200 entries');
  expect(definitionProblem(twice(2000))).toBe('steps has more than 200 entries');
  expect(definitionProblem(twice(20_000))).toBe('it has more than 20000 values');
  expect(definitionProblem(twice(199))).toBe("Step 's0' is given twice");
});

test('[S1] a file that passes a limit is refused for that alone', () => {
  for (const [key, text] of [
    ['steps', JSON.stringify(workflow(Array.from({ length: 1000 }, () => ({ review: { on_pivot: 'x' } }))))],
    [
      'transitions',
      JSON.stringify(
        workflow(steps(2), { transitions: Array.from({ length: 1001 }, () => ({ from: 'x', to: 'y' })) }),
      ),
    ],
  ] as const) {
    const { diagnostics } = parseWorkflow(text, { file: 'x' });
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: 'out_of_range', message: expect.stringContaining(key) }),
    );
    expect(diagnostics.filter(({ code }) => ['unknown_step', 'duplicate_transition'].includes(code))).toEqual(
      [],
    );
    expect(diagnostics.length).toBeLessThanOrEqual(200);
  }
});

test('[S1] an ordinary file with mistakes of both kinds is told all of them', () => {
  const text = JSON.stringify(workflow([...steps(2), { id: 's1', type: 'actoin', review: { by: 'humam' } }]));
  const codes = parseWorkflow(text, { file: 'x' }).diagnostics.map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(['wrong_value', 'duplicate_id', 'unknown_reviewer']));
});

test('[S1] texts that aliases repeat beyond four times the size of a file are refused', () => {
  const gates = (count: number) => `
name: laughs
description: d
steps:
  - { id: a, type: action, instructions: &text "${'{a}'.repeat(30_000)}", gate: &gates [${'{ exists: *text },'.repeat(count)}] }
  - { id: b, type: ralph, instructions: x, gate: *gates, until: *gates }
`;
  const codes = (text: string) => parseWorkflow(text, { file: 'x' }).diagnostics.map(({ code }) => code);
  expect(codes(gates(20))).toContain('too_many_values');
  expect(codes(gates(2))).not.toContain('too_many_values');
});

test('[S1] a pivot and a transition find the first step of their name', () => {
  const written = workflow(
    [
      { ...steps(1)[0], review: { by: 'human', on_pivot: 's1' } },
      { id: 's1', type: 'action', instructions: 'x', review: { by: 'human', on_pivot: 's1' } },
      { id: 's2', type: 'action', instructions: 'x', review: { by: 'human', on_pivot: 's0' } },
    ],
    {
      transitions: [
        { from: 's0', to: 's1' },
        { from: 's2', to: 's0' },
        { from: 's0', to: 's2' },
      ],
    },
  );
  const { diagnostics } = parseWorkflow(JSON.stringify(written), { file: 'x' });
  expect(diagnostics.map(({ code, suggestion }) => [code, suggestion])).toEqual([
    ['pivot_forward', 'A pivot goes back: s0.'],
    ['transition_unused', "'s2' is the last step."],
    ['transition_unused', "After 's0' comes 's1'."],
  ]);
});

test('A14: a definition that a run has pinned keeps the names of tools that it has', () => {
  const agents = { helper: { description: 'Helps', tools: ['Task', 'Reed'], cannot: ['MultiEdit'] } };
  const steps = [{ id: 'a', type: 'action', agent: 'helper', instructions: 'Do it' }];
  expect(definitionProblem({ name: 'w', description: 'd', agents, steps })).toBeUndefined();
});
