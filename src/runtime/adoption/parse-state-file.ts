import type { WorkflowDescription } from './parse-informal-workflow.ts';

const longest = 200;
const mostListed = 200;
const types = ['planning', 'qa-loop', 'implementation', 'custom'] as const;

/**
 * A state file that an agent keeps itself: `{ workflow, workflow_type, phase, required_reading, context, key_reminders }`.
 * Undefined for anything else, and for what mirrors a run.
 */
export function describedByState(text: string): WorkflowDescription | undefined {
  const { workflow, workflow_type, phase, run_id, ...more } = objectIn(text) ?? {};
  const { current, total, name, status } = isObject(phase) ? phase : {};
  if (typeof workflow !== 'string' || workflow.trim() === '' || run_id !== undefined) return undefined;
  if (!isNumber(current) || !isNumber(total)) return undefined;
  const named = workflow.trim().slice(0, longest);
  const reminders = textsIn(more.key_reminders);
  const variables = isObject(more.context) ? Object.entries(more.context).slice(0, mostListed) : [];
  const type = types.find((each) => each === workflow_type);
  return {
    name: named,
    ...(type ? { type } : {}),
    phase: {
      current,
      total: Math.max(current, total),
      name:
        typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, longest) : `Phase ${current}`,
    },
    reading: textsIn(more.required_reading).map((path) => `@${path.replace(/^@/, '')}`),
    text: [`Workflow: ${named}`, ...(status === 'blocked' ? ['The file says that it is blocked.'] : [])].join(
      '\n\n',
    ),
    ...(reminders.length > 0 ? { reminders } : {}),
    ...(variables.length > 0 ? { variables: variables.map(variable) } : {}),
    complete: status === 'completed' && current >= total,
  };
}

const variable = ([name, value]: [string, unknown]): { name: string; value: string } => ({
  name: name.slice(0, longest),
  value: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 2000),
});

const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [])
    .filter((each) => typeof each === 'string' && each.trim() !== '')
    .map((each) => each.trim().slice(0, 2000))
    .slice(0, mostListed);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 9999;

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
