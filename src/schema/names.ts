// Lists that both schemas and programs without zod need.

export const noteKinds = [
  'decision',
  'rejection',
  'correction',
  'reminder',
  'variable',
  'artefact',
  'reading',
] as const;

export const sectionNames = [
  'status',
  'instructions',
  'notes',
  'done',
  'reading',
  'artifacts',
  'tasks',
  'todo',
  'outputs',
] as const;

export const verdicts = ['approve', 'revise', 'pivot', 'escalate', 'abandon'] as const;
