import type { Definition } from '../schema/index.ts';
import type { Position } from './handle.ts';
import { own } from './own-property.ts';
import { expandPlaceholders, type Room } from './placeholders.ts';
import { type Output, opening, type State } from './state.ts';
import { stepOf, taskListOf } from './steps.ts';
import { type TaskSummary, taskSummaries } from './task-states.ts';

/** The text with what the run knows filled in; `values` gives what it cannot know, such as `project_root`. */
export const expandAt = (
  definition: Definition,
  state: State,
  position: Position,
  text: string,
  values: Record<string, string> = {},
  room?: Room,
): string =>
  expandPlaceholders(text, (name) => placeholderValue(definition, state, position, values, name), room);

function placeholderValue(
  definition: Definition,
  state: State,
  position: Position,
  values: Record<string, string>,
  name: string,
): string | undefined {
  const dot = name.indexOf('.');
  const [root, part] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  if (root === 'task') {
    const task = own(taskListOf(state, stepOf(definition, position.step))?.byId, position.task ?? '');
    if (part === 'id') return task?.id ?? '';
    if (part === 'title') return task?.title ?? '';
    return part === 'description' ? (task?.description ?? '') : undefined;
  }
  if (root === 'input') {
    const declared = own(definition.inputs, part) !== undefined;
    return declared ? String(own(state.inputs, part) ?? '') : undefined;
  }
  if (root === 'outputs') {
    // In a loop a sub-step's name means the same task's.
    const sibling =
      position.task === undefined
        ? undefined
        : own(state.outputs, `${position.step}.${position.task}.${part}`);
    return opening((sibling ?? outputNamed(definition, state, part))?.text ?? '');
  }
  if (root === 'tasks') return taskLines(taskSummaries(definition, state, part) ?? []);
  if (name === 'iteration') return String(position.iteration ?? '');
  if (name === 'run_id') return state.run;
  if (name === 'summary') return state.summary ?? '';
  if (name === 'plan_id') return own(state.variables, name) ?? String(own(definition.variables, name) ?? '');
  return own(values, name);
}

/** A ralph step's output is that of its last iteration. */
export function outputNamed({ steps }: Definition, { outputs }: State, name: string): Output | undefined {
  const known = own(outputs, name);
  const step = steps.find(({ id }) => id === name);
  if (known || step?.type !== 'ralph') return known;
  for (let round = step.n ?? 1; round > 0; round -= 1) {
    const output = own(outputs, `${name}.${round}`);
    if (output) return output;
  }
  return undefined;
}

const mostTasks = 40;
const maxTitle = 100;
const maxWords = 160;

/** One line for each task: `- task-1 (done) The title: what it reported`. */
function taskLines(tasks: readonly TaskSummary[]): string {
  const lines = tasks.slice(0, mostTasks).map(({ id, title, status, output }) => {
    const said = output?.trim().split('\n', 1)[0]?.slice(0, maxWords) ?? '';
    return `- ${id} (${status}) ${title.slice(0, maxTitle)}${said === '' ? '' : `: ${said}`}`;
  });
  const more = tasks.length - lines.length;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}
