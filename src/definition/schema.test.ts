import { expect, expectTypeOf, test } from 'vitest';
import type { Definition } from '../machine/index.ts';
import { type Authored, workflowSchema } from './schema.ts';

type AuthoredStep = NonNullable<Authored['steps']>[number];
type AuthoredSubStep = NonNullable<Authored['loops']>[string][number];
type Resolved = Omit<Authored, 'extends' | 'remove' | 'id' | 'name' | 'description' | 'loops' | 'steps'> & {
  name: string;
  description: string;
  loops?: Record<string, Omit<AuthoredSubStep, 'after'>[]>;
  steps: Omit<AuthoredStep, 'after'>[];
};
type Flat<T> = T extends object ? { [Key in keyof T]: Flat<T[Key]> } : T;

test('what the schema reads and what the machine runs are the same keys and types, at every depth', () => {
  expectTypeOf<Flat<Resolved>>().toEqualTypeOf<Flat<Definition>>();
  expect(Object.keys(workflowSchema.shape)).toContain('steps');
});
