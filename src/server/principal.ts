import type { PrincipalKind, ProvenPrincipal, Scope } from '../schema/index.ts';

/** The authenticated sender of a request. */
export interface Principal {
  /** The id of the token; safe to log. */
  id: string;
  project: { id: number; name: string };
  kind: PrincipalKind;
  name: string;
  /** Of a JWT. */
  issued?: { issuer: string; subject: string } | undefined;
  /** The name of the token that this one was made with. */
  parent?: string | undefined;
  scopes: readonly Scope[];
  /** How many agents use the token, if it says so. */
  agents?: number | undefined;
}

/** Of the person whose machine it is. */
export const localId = 'local';

export const may = ({ scopes }: Principal, scope: Scope): boolean => scopes.includes(scope);

/** As it is recorded with what it did. */
export const provenBy = ({
  id,
  kind,
  name,
  issued,
  parent,
}: Omit<Principal, 'project' | 'scopes'>): ProvenPrincipal =>
  issued ? { kind, ...issued } : { kind, subject: name, token: id, ...(parent !== undefined && { parent }) };
