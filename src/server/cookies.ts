import { parse, serialize } from 'hono/utils/cookie';
import { problem } from './problem.ts';

const name = 'stepfast_token';

/**
 * The token that a browser reads with; it never decides. A request that changes something must say which page it comes
 * from: the origin is checked with the host.
 */
export function cookieToken(request: Request): string | undefined {
  const sent = request.headers.get('cookie');
  const token = sent === null ? undefined : parse(sent, name)[name];
  if (token === undefined || !/^[\x21-\x7e]{1,8192}$/.test(token)) return undefined;
  const isSafe = request.method === 'GET' || request.method === 'HEAD';
  if (!isSafe && request.headers.get('origin') === null)
    throw problem('forbidden', 'Missing Origin.', { next: 'use the dashboard, or a bearer token' });
  return token;
}

/** Out of reach of scripts and of other sites. */
export const signInCookie = (token: string, seconds: number, publicUrl: URL): string =>
  serialize(name, token, {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    secure: publicUrl.protocol === 'https:',
    maxAge: seconds,
  });

export const signOutCookie = (publicUrl: URL): string => signInCookie('', 0, publicUrl);
