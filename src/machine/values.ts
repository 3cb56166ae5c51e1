import type { Definition } from '../schema/index.ts';
import type { Position } from './handle.ts';
import { own } from './own-property.ts';
import { expandPlaceholders } from './placeholders.ts';
import { opening, type State } from './state.ts';
import { stepOf, taskListOf } from './steps.ts';

/** The text with what the run knows filled in; `values` gives what it cannot know, such as `project_root`. */
export const expandAt = (
  definition: Definition,
  state: State,
  position: Position,
  text: string,
  values: Record<string, string> = {},
): string => expandPlaceholders(text, (name) => placeholderValue(definition, state, position, values, name));

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
    return opening((sibling ?? own(state.outputs, part))?.text ?? '');
  }
  if (name === 'iteration') return String(position.iteration ?? '');
  if (name === 'run_id') return state.run;
  if (name === 'summary') return state.summary ?? '';
  if (name === 'plan_id') return own(state.variables, name) ?? String(own(definition.variables, name) ?? '');
  return own(values, name);
}
