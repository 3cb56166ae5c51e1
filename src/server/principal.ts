import type { Scope } from '../schema/index.ts';

/** Whoever a request is from, as far as the server can prove it. */
export interface Principal {
  /** Of the token: safe to log. */
  id: string;
  project: { id: number; name: string };
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly Scope[];
}

export const may = ({ scopes }: Principal, scope: Scope): boolean => scopes.includes(scope);
