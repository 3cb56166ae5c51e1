import { call } from './http.ts';

export const passphrase = 'correct horse battery';

export interface Person {
  /** What lies on their disk. */
  login: string;
  /** For five minutes. */
  credential: string;
}

/** Uses an invitation as `stepfast login` does, then types the passphrase. */
export async function becomePerson(url: string, invitation: string): Promise<Person> {
  const joined = await call(url, 'POST', '/v1/people', { token: invitation, body: { passphrase } });
  if (joined.status !== 200) throw new Error(joined.text);
  const { token: login } = joined.body;
  return { login, credential: await credentialOf(url, login) };
}

export async function credentialOf(url: string, login: string): Promise<string> {
  const given = await call(url, 'POST', '/v1/credentials', { token: login, body: { passphrase } });
  if (given.status !== 200) throw new Error(given.text);
  return given.body.token;
}
