import { checkPath } from './check-artifacts.ts';
import type { Checked } from './check-steps.ts';
import { child, isTrue, keyLocation, type MapNode, maps, textOf } from './yaml-tree.ts';

const sources = ['files', 'checklist', 'json', 'output'];

/** Where the tasks of loops come from. */
export function checkTasks(checked: Checked): void {
  for (const step of maps(child(checked.root, 'steps'))) checkSource(step, checked);
}

function checkSource(step: MapNode, { root, report }: Checked): void {
  const tasks = child(step, 'tasks');
  if (tasks?.kind !== 'map') return;
  const given = sources.filter((key) => tasks.entries.has(key));
  if (given.length > 1)
    report(
      'error',
      'tasks_source',
      tasks,
      `Tasks come from one place, got ${given.join(' and ')}`,
      'Keep one of them.',
    );
  if (given.length === 0 && isTrue(child(tasks, 'locked')))
    report(
      'error',
      'tasks_source',
      keyLocation(tasks, 'locked'),
      "'locked' needs tasks that the workflow gives",
      `Write one of ${sources.join(', ')}.`,
    );
  for (const key of ['files', 'checklist', 'json']) checkPath(child(tasks, key), `'tasks.${key}'`, report);
  const output = child(tasks, 'output');
  const [id] = textOf(output)?.split('.', 1) ?? [];
  const source = maps(child(root, 'steps')).find((each) => textOf(child(each, 'id')) === id);
  if (output !== undefined && id !== undefined && textOf(child(source, 'output')) !== 'json')
    report(
      'error',
      'tasks_source',
      output,
      `'${id}' is no step with output: json`,
      'Name an earlier step, and write output: json there.',
    );
}
