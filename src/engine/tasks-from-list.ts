import { hash } from 'node:crypto';
import type { Prepared, TaskInput } from '../machine/index.ts';

/** Titles, or objects with a title; `from` names the list to a person. */
export function tasksFromList(list: unknown, from: string): Prepared {
  if (!Array.isArray(list)) return { problem: `${from} is no list of tasks` };
  const tasks: TaskInput[] = [];
  for (const [index, item] of list.entries()) {
    const task = typeof item === 'string' ? taskNamed(item) : taskOf(item);
    if (!task) return { problem: `item ${index + 1} of ${from} is no task: it needs a title` };
    tasks.push(task);
  }
  return { tasks };
}

const maxTitle = 200;
const maxSlug = 48;

/** Its id is a slug and eight characters of a hash, so that the same text is the same task. */
export function taskNamed(text: string): TaskInput | undefined {
  const title = text.trim();
  if (title === '') return undefined;
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, maxSlug)
    .replace(/-+$/, '');
  const id = `${slug || 'task'}-${hash('sha256', title, 'hex').slice(0, 8)}`;
  return { id, title: title.slice(0, maxTitle), ...(title.length > maxTitle && { description: title }) };
}

function taskOf(item: unknown): TaskInput | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { id, title, name, description, depends_on: needs } = item as Record<string, unknown>;
  const text = [title, name].find((each) => typeof each === 'string');
  const named = typeof text === 'string' ? taskNamed(text) : undefined;
  if (!named) return undefined;
  const list = Array.isArray(needs) && needs.every((each) => typeof each === 'string') ? needs : undefined;
  return {
    ...named,
    ...(typeof id === 'string' && { id }),
    ...(typeof description === 'string' && { description }),
    ...(list && { depends_on: list }),
  };
}
