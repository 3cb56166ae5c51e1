import type { Grant, GrantChanges } from '../schema/index.ts';
import { listed } from './lists.ts';

/** A command as it is; anything else with its subject. */
export function grantText(grant: Grant): string {
  if ('run' in grant) return grant.run;
  if ('setup' in grant) return `in each new worktree: ${grant.setup}`;
  if ('copy' in grant) return `copied into each new worktree: ${grant.copy}`;
  if ('input' in grant) return `input ${grant.input}: ${JSON.stringify(grant.default)} by default`;
  if ('tools' in grant) return `agent ${grant.agent}: only the tools ${grant.tools.join(', ') || '(none)'}`;
  if ('cannot' in grant) return `agent ${grant.agent}: not the tools ${grant.cannot.join(', ')}`;
  return `agent ${grant.agent}: permission mode ${grant.permissions}`;
}

/** What was added and removed since a person trusted it. */
export function grantChangesText({ added, removed }: GrantChanges, most?: number): string {
  const part = (label: string, grants: readonly Grant[]): string[] =>
    grants.length === 0 ? [] : [`${label} ${listed(grants.map(grantText), '; ', most)}`];
  return [...part('new:', added), ...part('removed:', removed)].join('; ');
}
