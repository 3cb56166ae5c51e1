import { expect, test } from 'vitest';
import { feature, hostile } from '../../../test/kit/graph-definition.ts';
import { createGraph } from './graph.ts';

test("a transition's context is shown before its target step", () => {
  expect(createGraph(feature).phases[1]?.before).toEqual({ command: '/clear', eachRound: false });
});

test("a step's own context wins over the transition's", () => {
  const graph = createGraph({
    ...feature,
    transitions: [{ from: 'build', to: 'polish', context: 'clear' }],
  });
  expect(graph.phases[2]?.before).toEqual({ command: '/compact', eachRound: true });
});

test("a loop's own context is shown before each sub-step without one", () => {
  const steps = feature.steps.map((step) =>
    step.type === 'loop' ? { ...step, context: 'clear' as const } : step,
  );
  const graph = createGraph({ ...feature, steps });
  expect(graph.phases[1]?.before).toBeUndefined();
  expect(graph.phases[1]?.subSteps.map(({ before }) => before?.command)).toEqual(['/clear', '/compact']);
});

test('review and budget pivots to the same step are merged', () => {
  const steps = [
    { id: 'a', type: 'action' as const },
    {
      id: 'b',
      type: 'action' as const,
      review: { by: 'human', on_pivot: 'a' },
      budget: { turns: 1, on_pivot: 'a' },
    },
  ];
  expect(createGraph({ name: 'x', description: '', steps }).pivots).toEqual([
    { from: 1, to: 0, causes: ['review', 'budget'] },
  ]);
});

test('budgets are abbreviated', () => {
  const budget = { turns: 1, tokens: 12_500_000, minutes: 5 };
  const graph = createGraph({ name: 'x', description: '', steps: [{ id: 'a', type: 'action', budget }] });
  expect(graph.phases[0]?.budget).toEqual(['1 turn', '12.5M tokens', '5 min']);
});

test('only the first line of the instructions is shown', () => {
  expect(createGraph(feature).phases[1]?.subSteps[0]?.about).toBe('Implement {task.title}.');
});

test('every text is printable', () => {
  expect(JSON.stringify(createGraph(hostile))).not.toMatch(/\\u00[01]|\\n|\u202e|\\ud800/);
});

test('a name from Object.prototype is not a loop', () => {
  const graph = createGraph({
    name: 'x',
    description: '',
    loops: {},
    steps: [{ id: 'constructor', type: 'loop' }],
  });
  expect(graph.phases[0]?.subSteps).toEqual([]);
});

test('[L/expect] [L/contains] what is expected of a command is part of its gate', () => {
  const gate = [
    { run: 'npm test', expect: 'fail' as const },
    { run: 'npm test', contains: '12 passed' },
  ];
  const steps = [{ id: 'a', type: 'action' as const, gate }];
  expect(createGraph({ name: 'x', description: '', steps }).phases[0]?.gates).toEqual([
    { code: true, text: 'npm test (expected to fail)' },
    { code: true, text: 'npm test (output contains "12 passed")' },
  ]);
});
