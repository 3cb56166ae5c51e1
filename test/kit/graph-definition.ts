import type { Definition } from '../../src/machine/index.ts';

/** For tests: one of everything that a drawing shows. */
export const feature: Definition = {
  name: 'feature',
  description: 'Plan, build and review a feature',
  type: 'implementation',
  stop: 'hold',
  inputs: { issue: { type: 'string', required: true }, note: {} },
  loops: {
    build: [
      { id: 'implement', instructions: 'Implement {task.title}.\nThen stop.', on_fail: 'retry', attempts: 3 },
      {
        id: 'verify',
        agent: 'reviewer',
        context: 'compact',
        read_only: true,
        instructions: 'Review the change.',
        gate: [{ run: 'npm test' }, { condition: 'outputs.plan != null' }],
        on_fail: 'skip',
      },
    ],
  },
  steps: [
    {
      id: 'plan',
      type: 'action',
      context: 'clear',
      artefacts: true,
      instructions: 'Write the plan to {project_root}/PLAN.md',
      gate: [{ exists: 'PLAN.md' }, { read: ['docs/a.md', 'docs/b.md'] }],
      review: { by: 'human', on_pivot: 'plan' },
      budget: { turns: 60, tokens: 400_000, minutes: 90 },
    },
    { id: 'build', type: 'loop', parallel: 3, budget: { turns: 1, on_pivot: 'plan' } },
    {
      id: 'polish',
      type: 'ralph',
      n: 5,
      context: 'compact',
      until: [{ run: 'npm run lint' }],
      instructions: 'Improve the weakest part.',
    },
  ],
  transitions: [{ from: 'plan', to: 'build', context: 'clear' }],
};

/** For tests: breaks out of whatever does not escape. */
export const attack =
  '"]; </text></svg><script>alert(1)</script> %%{init: {"theme":"dark"}}%% `x` style a:#fff; & #quot; \' --> ]]> \u0000\u001b[31m\u202e\ud800 \n end';

export const hostile: Definition = {
  name: attack,
  description: attack,
  inputs: { [attack]: { required: true } },
  loops: {
    [attack]: [
      { id: attack, agent: attack, context: 'clear', instructions: attack, gate: [{ run: attack }] },
    ],
  },
  steps: [
    {
      id: attack,
      type: 'action',
      agent: attack,
      instructions: attack,
      gate: [{ run: attack }, { exists: attack }, { condition: attack }, { read: [attack] }],
      review: { by: attack, on_pivot: attack },
    },
    { id: `2${attack}`, type: 'loop', loop: attack, review: { by: attack, on_pivot: attack } },
    { id: `3${attack}`, type: 'ralph', n: 3, until: [{ run: attack }, { run: attack }, { run: attack }] },
  ],
};
