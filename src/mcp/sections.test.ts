import { describe, expect, it } from 'vitest';
import { type Command, type Definition, respond, type State } from '../machine/index.ts';
import { contextText } from './sections.ts';

const definition: Definition = {
  name: 'feature',
  description: 'A feature',
  boundaries: 'require',
  required_reading: ['@docs/a.md', '@{project_root}/docs/b.md'],
  critical_artifacts: { always_load: [{ id: 'spec', type: 'markdown', path: 'SPEC.md', required: true }] },
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan.' },
    { id: 'build', type: 'action', context: 'clear', instructions: 'Secret of the build.' },
  ],
};

type Bare<C> = C extends Command ? Omit<C, 'now'> : never;

function run(...commands: Bare<Command>[]): State {
  let state: State | null = null;
  for (const [index, command] of commands.entries()) {
    // The parts are those of exactly this command.
    state = respond(definition, state, { ...command, now: index } as Command).state;
  }
  if (!state) throw new Error('not started');
  return state;
}

const begun: Bare<Command>[] = [
  {
    type: 'start',
    run: 'feature-20261114-k3f9x2ab',
    session: 's',
    facts: { witness: 'hooks' },
  },
  { type: 'read', path: '{project_root}/docs/b.md', hash: 'x' },
  { type: 'advance', output: 'the plan', session: 's' },
];

describe('the context of a run', () => {
  it('[P1/4] tells everything but the instructions while a required context action is open', () => {
    const state = run(...begun);
    const [cursor] = Object.values(state.cursors);
    expect(cursor?.boundary).toMatchObject({ state: 'requested', policy: 'require' });
    const source = { definition, state, values: {}, ...(cursor ? { cursor } : {}) };
    const text = contextText(source);
    expect(text).not.toContain('Secret');
    expect(text).toContain('DONE\n- plan (unverified): the plan');
    expect(text).toContain('opens with /clear');
    expect(contextText(source, { section: 'instructions' })).toBe(
      "This run has nothing under 'instructions'.",
    );
    const open = run(...begun, { type: 'proceed', actor: { kind: 'person' } });
    const [opened] = Object.values(open.cursors);
    expect(contextText({ ...source, state: open, ...(opened ? { cursor: opened } : {}) })).toContain(
      'Secret',
    );
  });

  it('marks what was read, and names artifacts by their id', () => {
    const state = run(...begun);
    expect(contextText({ definition, state, values: {} }, { section: 'reading' })).toBe(
      'REQUIRED READING\n- @docs/a.md (not yet read)\n- @{project_root}/docs/b.md (read)',
    );
    expect(contextText({ definition, state, values: {} }, { artifacts: ['spec'] })).toBe(
      'CRITICAL ARTIFACTS\n- spec (required): spec, SPEC.md',
    );
    expect(contextText({ definition, state, values: {} }, { artifacts: ['none'] })).toBe(
      "This run has nothing under 'artifacts'.",
    );
  });

  it('is the same text for the same run', () => {
    const source = { definition, state: run(...begun), values: {} };
    expect(contextText(source)).toBe(contextText(structuredClone(source)));
  });
});
