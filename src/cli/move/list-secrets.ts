import type { Secret } from '../../runtime/index.ts';

const maxListed = 5;

/** Lists rule and location: `github-token in batch 2 (note.added); …, and 3 more`. */
export function listSecrets(secrets: readonly Secret[]): string {
  const named = secrets.slice(0, maxListed).map(({ rule, where }) => `${rule} in ${where}`);
  const more = secrets.length > maxListed ? `, and ${secrets.length - maxListed} more` : '';
  return `${named.join('; ')}${more}`;
}
