import type { Secret } from '../../runtime/index.ts';

const mostNamed = 5;

/** `github-token in batch 2 (note.added); …, and 3 more`: each by its rule and its place. */
export function placesOf(secrets: readonly Secret[]): string {
  const named = secrets.slice(0, mostNamed).map(({ rule, where }) => `${rule} in ${where}`);
  const more = secrets.length > mostNamed ? `, and ${secrets.length - mostNamed} more` : '';
  return `${named.join('; ')}${more}`;
}
