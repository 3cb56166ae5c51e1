import { action, Run, workflow } from './run.ts';

/** The states of seed 003: planning, plan review, coding, testing, code review. */
export const maestro = (parts: object = {}) =>
  workflow(
    [
      action('planning', { review: { by: 'human', on_pivot: 'planning' } }),
      action('coding', {
        gate: [{ run: 'npm test' }],
        review: { by: 'reviewer', on_pivot: 'planning' },
        budget: { turns: 3, tokens: 1000, minutes: 10, on_pivot: 'planning' },
      }),
      action('done'),
    ],
    { transitions: [{ from: 'planning', to: 'coding', context: 'clear' }], ...parts },
  );

export const coding = (): Run => {
  const run = new Run(maestro());
  run.advance('The plan: use a queue', { tree: 't1' });
  run.person({ type: 'review', verdict: 'approve' });
  run.status();
  run.status();
  return run;
};
