import { parse, serialize } from 'hono/utils/cookie';
import * as z from 'zod';
import { problem } from './problem.ts';

/** The body of a sign-in. */
export const signInSchema = z.strictObject({ token: z.string().min(1).max(8192) });

const name = 'stepfast_token';

/**
 * The token that a browser was signed in with. A request that changes something must say which page it comes from: the
 * origin is checked with the host.
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

/** Until the browser is closed; out of reach of scripts and of other sites. */
export const signInCookie = (token: string, publicUrl: URL): string =>
  serialize(name, token, { ...attributes, secure: publicUrl.protocol === 'https:' });

export const signOutCookie = (publicUrl: URL): string =>
  serialize(name, '', { ...attributes, secure: publicUrl.protocol === 'https:', maxAge: 0 });

const attributes = { httpOnly: true, sameSite: 'Strict', path: '/' } as const;
