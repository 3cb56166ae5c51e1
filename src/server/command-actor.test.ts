import { expect, test } from 'vitest';
import type { Scope } from '../schema/index.ts';
import { withProvenActor } from './command-actor.ts';

const sender = (...scopes: Scope[]) => ({
  id: 't',
  project: { id: 1, name: 'p' },
  kind: 'agent' as const,
  name: 'worker',
  scopes,
});

test('[L/worktree] a failure is of the engine only where the command says so and the token may report gates', () => {
  const failed = { type: 'fail' as const, reason: 'not set up', at: 'abc:build/a/write#1' };
  const byEngine = { ...failed, actor: { kind: 'engine' as const } };
  const kind = (command: typeof failed | typeof byEngine, ...scopes: Scope[]) =>
    withProvenActor(command, sender(...scopes), 1).actor.kind;
  expect(kind(byEngine, 'write', 'gates')).toBe('engine');
  expect(kind(byEngine, 'write')).toBe('agent');
  expect(kind(failed, 'write', 'gates')).toBe('agent');
});

test('a driver pauses for a reason, under the name of its token, and an agent does not', () => {
  const byEngine = { type: 'pause' as const, actor: { kind: 'engine' as const, name: 'Ada' } };
  const actor = (...scopes: Scope[]) => withProvenActor(byEngine, sender(...scopes), 1).actor;
  expect(actor('write', 'gates')).toMatchObject({ kind: 'engine', name: 'worker: Ada' });
  expect(actor('write').kind).toBe('agent');
});
