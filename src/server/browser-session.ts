import type * as z from 'zod';
import { browserSignInSchema, type SignInAnswer } from '../schema/index.ts';
import type { Auth, AuthOptions } from './auth.ts';
import { signInCookie } from './cookies.ts';
import type { DeviceSignIn } from './device-sign-in.ts';
import { type People, readingSeconds } from './people.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';

/** The body of a sign-in. */
export const signInSchema = browserSignInSchema;
export type SignInBody = z.output<typeof signInSchema>;

/** What a client needs to know before a person signs in. */
export const signInBy = (issuer: AuthOptions['issuer']): SignInAnswer =>
  issuer?.client ? { issuer: issuer.issuer, client_id: issuer.client.id, scope: issuer.client.scope } : {};

interface Signed {
  principal: Principal;
  /** What the page keeps in its memory and decides with: cookies lie on disks. */
  credential: string;
  /** For a browser that reads nothing yet. */
  cookie?: string;
}

interface BrowserRequest {
  request: Request;
  address: string;
  auth: Auth;
  people: People;
  device: DeviceSignIn;
  publicUrl: URL;
}

/** Only people sign in: an agent has its token in its environment. Throws a problem. */
export async function signInBrowser(
  body: SignInBody,
  { request, address, auth, people, device, publicUrl }: BrowserRequest,
): Promise<Signed | 'pending'> {
  if ('device' in body) {
    const credential = await device.redeem(body.device, address);
    if (credential === undefined) return 'pending';
    const principal = requirePerson(await auth.signIn(request, credential));
    const reading = await people.reading(principal);
    return { principal, credential, cookie: signInCookie(reading, readingSeconds, publicUrl) };
  }
  if (!('name' in body)) {
    const principal = requirePerson(await auth.authenticate(request));
    const { token: credential } = await people.credential(principal, body.passphrase);
    return { principal, credential };
  }
  const { principal, reading, deciding } = await people.signIn(body, address);
  return { principal, credential: deciding, cookie: signInCookie(reading, readingSeconds, publicUrl) };
}

function requirePerson(principal: Principal): Principal {
  if (principal.kind === 'person') return principal;
  throw problem('forbidden', `This token belongs to the ${principal.kind} '${principal.name}'.`, {
    next: 'sign in with your own name and passphrase',
  });
}
