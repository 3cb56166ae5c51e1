import type { Scope } from '../schema/index.ts';

/** The authenticated sender of a request. */
export interface Principal {
  /** The id of the token; safe to log. */
  id: string;
  project: { id: number; name: string };
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly Scope[];
  /** How many agents use the token, if it says so. */
  agents?: number | undefined;
}

export const may = ({ scopes }: Principal, scope: Scope): boolean => scopes.includes(scope);
