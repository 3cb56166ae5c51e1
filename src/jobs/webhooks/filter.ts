/** What reminders are called; beside it there are the types of a run's events. */
export const waitingEvent = 'approval.waiting';

/** `*`, `run.*`, `run.completed`. */
const pattern = /^(\*|[a-z]+\.(\*|[a-z]+))$/;

export const isFilter = (filter: string): boolean => pattern.test(filter);

/** The types that one of the filters lets through. */
export const wanted = (filters: readonly string[], types: readonly string[]): string[] =>
  types.filter((type) => filters.some((filter) => lets(filter, type)));

function lets(filter: string, type: string): boolean {
  if (filter === '*' || filter === type) return true;
  return filter.endsWith('.*') && type.startsWith(filter.slice(0, -1));
}
