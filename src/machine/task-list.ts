import type { Task, TaskInput } from '../schema/index.ts';
import type { TaskProblem } from './refusal.ts';
import { dependantsOf } from './steps.ts';

const maxTasks = 5000;
/** Of all tasks of a list: every call on the run reads and writes them. */
const maxDependencies = 20_000;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** What is wrong with a list; `all` has the tasks that stay as well. */
export function badTasks(wanted: TaskInput[], all: Task[]): TaskProblem | undefined {
  if (all.length > maxTasks) return { is: 'too_many', count: all.length, limit: maxTasks };
  const dependencies = all.reduce((sum, { depends_on: on = [] }) => sum + on.length, 0);
  if (dependencies > maxDependencies)
    return { is: 'too_many_dependencies', count: dependencies, limit: maxDependencies };
  const byId = new Map(all.map((task) => [task.id, task]));
  const seen = new Set<string>();
  for (const task of wanted) {
    if (typeof task.id !== 'string' || !idPattern.test(task.id))
      return { is: 'bad_id', task: String(task.id).slice(0, 80) };
    if (typeof task.title !== 'string' || task.title.trim() === '') return { is: 'no_title', task: task.id };
    if (seen.has(task.id)) return { is: 'duplicate', task: task.id };
    seen.add(task.id);
  }
  for (const task of all.filter(({ end }) => end === undefined)) {
    for (const id of task.depends_on ?? []) {
      const dependency = byId.get(id);
      if (!dependency) return { is: 'unknown_dependency', task: task.id, on: id };
      if (dependency.end === 'failed' || dependency.end === 'skipped')
        return { is: 'lost_dependency', task: task.id, on: id, end: dependency.end };
    }
  }
  const circle = findCircle(all);
  return circle && { is: 'circle', tasks: circle };
}

/** Removes tasks without open dependencies, one after the other. The tasks that remain are in a circle or depend on one. */
function findCircle(tasks: Task[]): string[] | undefined {
  const dependants = dependantsOf(tasks);
  const waits = new Map(tasks.map((task) => [task.id, task.depends_on?.length ?? 0]));
  const free = tasks.filter((task) => waits.get(task.id) === 0);
  // The list grows during the loop.
  for (const { id } of free) {
    waits.delete(id);
    for (const task of dependants.get(id) ?? []) {
      const left = (waits.get(task.id) ?? 0) - 1;
      waits.set(task.id, left);
      if (left === 0) free.push(task);
    }
  }
  const [start] = waits.keys();
  if (start === undefined) return undefined;
  const needs = new Map(tasks.map((task) => [task.id, task.depends_on ?? []]));
  const path = new Set<string>();
  for (let id = start; ; id = needs.get(id)?.find((other) => waits.has(other)) ?? start) {
    if (path.has(id)) return [...[...path].slice([...path].indexOf(id)), id];
    path.add(id);
  }
}
