let name = 'you';

/** The person whom a page is about: `you` in the dashboard, `a person` in a report that anyone may read. */
export const reader = (): string => name;

export function readByAnyone(): void {
  name = 'a person';
}
