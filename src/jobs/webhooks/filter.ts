/** The event type of reminders. All other types are those of run events. */
export const waitingEvent = 'approval.waiting';

/** `*`, `run.*`, `run.completed`. */
const pattern = /^(\*|[a-z]+\.(\*|[a-z]+))$/;

export const isFilter = (filter: string): boolean => pattern.test(filter);

/** The types that match at least one filter. */
export const wanted = (filters: readonly string[], types: readonly string[]): string[] =>
  types.filter((type) => filters.some((filter) => matches(filter, type)));

function matches(filter: string, type: string): boolean {
  if (filter === '*' || filter === type) return true;
  return filter.endsWith('.*') && type.startsWith(filter.slice(0, -1));
}
