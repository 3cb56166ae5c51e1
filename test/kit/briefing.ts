import type { Artifact } from '../../src/context/artifacts/artifact.ts';
import { type Briefing, type BriefingSource, type Cap, compileBriefing } from '../../src/context/index.ts';
import type { Cursor, Definition } from '../../src/machine/index.ts';
import { statusOf } from '../../src/machine/index.ts';
import { nextForTools } from '../../src/messages/index.ts';
import { Run } from './run.ts';

const minute = 60_000;
export const standard = { tokens: 2500, characters: 9000 };

export const feature: Definition = {
  name: 'feature',
  description: 'Plan, build and polish a feature',
  type: 'implementation',
  inputs: { issue: { type: 'string', required: true } },
  required_reading: ['@docs/conventions.md', '@docs/auth.md'],
  key_reminders: ['Run the tests after each component', 'Tokens never reach the log'],
  variables: { plan_id: 'auth' },
  agents: { reviewer: { description: 'Reviews a change against the plan', cannot: ['Write'] } },
  loops: {
    build: [
      { id: 'implement', instructions: 'Implement {task.title}. {task.description}' },
      {
        id: 'verify',
        agent: 'reviewer',
        instructions: 'Review the change of {task.id} against PLAN.md and run the tests.',
        gate: [{ run: 'npm test' }],
      },
    ],
  },
  steps: [
    {
      id: 'plan',
      type: 'action',
      instructions:
        'Write the plan for issue {input.issue} to PLAN.md: tasks, their order, and what stays out.',
      gate: [{ exists: 'PLAN.md' }],
      review: { by: 'human', on_pivot: 'plan' },
    },
    { id: 'build', type: 'loop', loop: 'build', budget: { turns: 3, on_pivot: 'plan' } },
    {
      id: 'polish',
      type: 'ralph',
      n: 3,
      instructions: 'Improve the weakest part.',
      review: { by: 'human', on_pivot: 'plan' },
    },
  ],
};

export const begin = (definition = feature): Run => {
  const run = new Run(definition, { start: false });
  run.now = Date.UTC(2026, 10, 14, 9);
  const inputs = definition.inputs ? { inputs: { issue: '#42' } } : {};
  run.send({
    type: 'start',
    run: 'feature-20261114-k3f9x2ab',
    session: 'A',
    summary: 'Log in with a passkey',
    ...inputs,
  });
  return run;
};

export const later = (run: Run, minutes: number): Run => {
  run.now += minutes * minute;
  return run;
};

export function planned(): Run {
  const run = begin();
  const plan = 'Three tasks: the server side, the form, the fallback for browsers without passkeys.';
  later(run, 6).advance(plan, { tree: '13cb77aa' });
  run.gates({ tree: '13cb77aa' });
  later(run, 20).person({ type: 'review', verdict: 'approve', tree: '13cb77aa' });
  later(run, 1).send({
    type: 'setTasks',
    loop: 'build',
    tasks: [
      { id: 'server', title: 'Register and verify passkeys', description: 'WebAuthn, level 3.' },
      { id: 'form', title: 'The form with a passkey button', description: 'Keep the password field.' },
      { id: 'fallback', title: 'A fallback for old browsers', depends_on: ['form'] },
    ],
  });
  return run;
}

export function building(): Run {
  const run = planned();
  run.send({
    type: 'note',
    kind: 'decision',
    key: 'library',
    text: 'SimpleWebAuthn on both sides; it is audited.',
  });
  run.send({ type: 'note', kind: 'rejection', text: 'No home-made CBOR parser: two of them had holes.' });
  run.send({ type: 'note', kind: 'correction', text: 'Ann: the button says "Passkey", not "Biometrics".' });
  run.send({ type: 'note', kind: 'reminder', text: 'The staging domain is auth.example.org' });
  run.send({ type: 'note', kind: 'variable', key: 'branch', text: 'passkeys' });
  run.send({ type: 'note', kind: 'artefact', text: 'docs/passkeys.md' });
  run.send({ type: 'todo', content: '- [x] server\n- [ ] form' });
  later(run, 14).advance('Registration and verification work; 11 tests.', { tree: '22aa' });
  later(run, 3).advance('Reviewed: the challenge is single use.', { tree: '22aa' });
  run.engine({
    type: 'gatesFinished',
    id: Object.values(run.state.cursors)[0]?.checking?.id ?? '',
    receipts: [{ gate: 0, pass: true, exit: 0, tree: '22aa' }],
    tree: '22aa',
  });
  later(run, 2).send({ type: 'ask', text: 'Does the password field stay visible when a passkey is known?' });
  later(run, 5).person({ type: 'answer', text: 'Yes, below the button, until the autumn release.' });
  later(run, 9).advance('The form is there.', { tree: '31dd' });
  later(run, 1).advance('Reviewed.', { tree: '31dd' });
  run.engine({
    type: 'gatesFinished',
    id: Object.values(run.state.cursors)[0]?.checking?.id ?? '',
    receipts: [
      {
        gate: 0,
        pass: false,
        exit: 1,
        tail: [
          ...Array.from({ length: 40 }, (_, at) => ` ✓ src/auth/part-${at}.test.ts (3 tests) 12ms`),
          ' FAIL  src/form.test.ts > the passkey button > is named',
          "AssertionError: expected 'Biometrics' to be 'Passkey'",
          ' ❯ src/form.test.ts:18:31',
          '',
          ' Test Files  1 failed | 40 passed (41)',
          '      Tests  1 failed | 122 passed (123)',
        ].join('\n'),
      },
    ],
    tree: '31dd',
  });
  return later(run, 4);
}

export const loaded = (id: string, text: string, parts: Partial<Artifact> = {}): Artifact => ({
  id,
  type: 'markdown',
  description: `The ${id}`,
  required: true,
  triggers: ['session_start'],
  content: {
    state: 'loaded',
    source: `@docs/${id}.md`,
    text,
    hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015',
    bytes: text.length,
    warnings: [],
  },
  ...parts,
});

export const cursorOf = ({ state }: Run): Cursor | undefined => Object.values(state.cursors)[0];

export function sourceOf(run: Run, parts: Partial<BriefingSource> = {}): BriefingSource {
  const cursor = cursorOf(run);
  const { action } = statusOf(run.definition, run.state, { cursor, session: 'A' });
  const next = nextForTools(action);
  return {
    definition: run.definition,
    state: run.state,
    ...(cursor ? { cursor } : {}),
    session: 'A',
    values: { project_root: 'PROJECT' },
    now: run.now,
    tree: '22aa',
    next: next ?? '',
    more: 'workflow_context, section {section}',
    reading: [
      { path: '@docs/conventions.md', state: 'read' },
      { path: '@docs/auth.md', state: 'changed' },
    ],
    artifacts: [],
    ...parts,
  };
}

/** A task whose tests failed, with artifacts: what the docs show. */
export function shownBriefing(cap: Cap): Briefing {
  const spec = '# Passkeys\n\nA user may have several.\n\n```ts\nregister(user)\n```\n';
  const artifacts: Artifact[] = [
    loaded('spec', spec),
    loaded('protocol', 'WebAuthn. '.repeat(2000)),
    {
      ...loaded('ticket', ''),
      required: false,
      type: 'work_plugin',
      content: { state: 'command', command: '/issue 42', done: false },
    },
  ];
  return compileBriefing(sourceOf(building(), { artifacts }), cap);
}
