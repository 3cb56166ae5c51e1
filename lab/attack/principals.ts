import type { Arena } from '../../test/kit/server/attack.ts';
import { becomePerson } from '../../test/kit/server/person.ts';

/** What each may do; the stranger's rights are in another project. */
export const scopes = {
  nobody: [],
  garbage: [],
  revoked: [],
  expired: [],
  invitation: ['join'],
  reader: ['read'],
  agent: ['read', 'write', 'gates'],
  rival: ['read', 'write', 'gates'],
  runner: ['read', 'write', 'gates', 'runner'],
  login: ['read', 'write', 'gates'],
  person: ['read', 'write', 'gates', 'decide'],
  admin: ['read', 'admin'],
  stranger: ['read', 'write', 'gates', 'decide'],
} as const satisfies Record<string, readonly string[]>;

export type Principal = keyof typeof scopes;
export type Tokens = Readonly<Record<Principal, string | undefined>>;

export async function createTokens({ cli, url, database, tokens }: Arena): Promise<Tokens> {
  const made = (name: string, project: string, ...args: string[]): Promise<string> =>
    cli.output('token', 'create', name, '--project', project, ...args);
  const person = async (project: string) =>
    await becomePerson(url, await made('ben', project, '--kind', 'person'));
  const idOf = (token: string): string => token.split('_')[1] ?? '';
  const revoked = await made('revoked', 'hostile', '--expires', '1h');
  await cli.output('token', 'revoke', idOf(revoked), '--project', 'hostile');
  const expired = await made('expired', 'hostile', '--expires', '2h');
  const ben = await person('hostile');
  const stranger = await person('quiet');
  // Credentials last longer than the attacks take.
  const extended = `update stepfast.tokens set expires_at = now() + interval '1 hour' where credential`;
  await database.query(extended);
  const past = `update stepfast.tokens set expires_at = now() - interval '1 second' where id = '${idOf(expired)}'`;
  await database.query(past);
  return {
    ...{ nobody: undefined, garbage: `sf_${'0'.repeat(16)}_${'A'.repeat(43)}`, revoked, expired },
    ...{ reader: tokens.reader, agent: tokens.attacker, login: ben.login, person: ben.credential },
    invitation: await made('invited', 'hostile', '--kind', 'person'),
    rival: await made('rival', 'hostile'),
    runner: await made('runner', 'hostile', '--kind', 'runner'),
    admin: await made('admin', 'hostile', '--kind', 'admin'),
    stranger: stranger.credential,
  };
}
