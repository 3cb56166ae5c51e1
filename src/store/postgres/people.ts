import type { Scope } from '../../schema/index.ts';
import { hashToken, newToken } from '../../token-format.ts';
import type { Query } from './database.ts';
import { statements } from './statements.ts';

interface IssuedToken {
  id: string;
  token: string;
}

/** The people of a project, who decide with a passphrase. */
export interface People {
  /** Uses an invitation: sets the secret of its person and returns a token for agents; undefined if it has ended. */
  join(invitation: string, secret: string, seconds: number): Promise<IssuedToken | undefined>;
  /** What the passphrase of a person is checked against. */
  secretOf(name: string): Promise<string | undefined>;
  /** A short-lived token of a person. It ends with `parent`, the token that asked for it. */
  makeCredential(
    name: string,
    credential: { parent?: string | undefined; scopes: readonly Scope[]; seconds: number },
  ): Promise<IssuedToken | undefined>;
}

export function createPeople(query: Query, project: number): People {
  return {
    async join(invitation, secret, seconds) {
      const { id, token } = newToken();
      const sent = [project, invitation, secret, id, hashToken(token), seconds];
      const [[joined] = []] = await query(statements.joinPerson, sent);
      return joined === true ? { id, token } : undefined;
    },
    async secretOf(name) {
      if (name.includes('\0')) return undefined;
      const [[secret] = []] = await query(statements.passphrase, [project, name]);
      return typeof secret === 'string' ? secret : undefined;
    },
    async makeCredential(name, { parent, scopes, seconds }) {
      const { id, token } = newToken();
      const sent = [project, name, parent ?? null, id, hashToken(token), [...scopes], seconds];
      const [[made] = []] = await query(statements.makeCredential, sent);
      return made === true ? { id, token } : undefined;
    },
  };
}
