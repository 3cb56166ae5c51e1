import type * as z from 'zod';
import { browserSignInSchema, type SignInAnswer } from '../schema/index.ts';
import type { Auth, AuthOptions } from './auth.ts';
import { cookiesOf } from './cookies.ts';
import type { DeviceSignIn } from './device-sign-in.ts';
import { decidingSeconds, type People, readingSeconds } from './people.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

/** The body of a sign-in. */
export const signInSchema = browserSignInSchema;
export type SignInBody = z.output<typeof signInSchema>;

/** What a client needs to know before somebody signs in. */
export const signInBy = (issuer: AuthOptions['issuer']): SignInAnswer =>
  issuer?.client ? { issuer: issuer.issuer, client_id: issuer.client.id, scope: issuer.client.scope } : {};

/** Of browsers, with the name and the attributes. */
const maxCookie = 3900;

interface Signed {
  principal: Principal;
  cookies: string[];
}

/** Only people sign in: an agent has its token in its environment. Throws a problem. */
export async function signInBrowser(
  body: SignInBody,
  {
    request,
    address,
    auth,
    people,
    device,
    publicUrl,
  }: {
    request: Request;
    address: string;
    auth: Auth;
    people: People;
    device: DeviceSignIn;
    publicUrl: URL;
  },
): Promise<Signed | 'pending'> {
  const cookie = cookiesOf(publicUrl);
  if ('device' in body) {
    const token = await device.redeem(body.device, address);
    return token === undefined ? 'pending' : await withToken(token);
  }
  if ('token' in body) return await withToken(body.token);
  if (!('name' in body)) {
    const principal = requirePerson(await auth.authenticate(request));
    const { token } = await people.credential(principal, body.passphrase);
    return { principal, cookies: [cookie('deciding', token, decidingSeconds)] };
  }
  const { principal, reading, deciding } = await people.signIn(body, address);
  return {
    principal,
    cookies: [cookie('reading', reading, readingSeconds), cookie('deciding', deciding, decidingSeconds)],
  };

  /** Of an issuer: it reads and decides, for the minutes that it lives. */
  async function withToken(token: string): Promise<Signed> {
    if (token.length > maxCookie)
      throw problem('too_large', 'The token of the issuer is too long for a cookie.', {
        next: 'have the issuer put fewer claims into it',
      });
    return {
      principal: requirePerson(await auth.signIn(request, token)),
      cookies: [cookie('reading', token)],
    };
  }
}

function requirePerson(principal: Principal): Principal {
  if (principal.kind === 'person') return principal;
  throw problem('forbidden', `This token belongs to the ${principal.kind} '${principal.name}'.`, {
    next: 'sign in with your own name and passphrase',
  });
}
