import { parse, serialize } from 'hono/utils/cookie';
import { problem } from './problem.ts';

/** Pages are read with the one for half a day; for a few minutes after a passphrase the other one decides. */
const names = { reading: 'stepfast_token', deciding: 'stepfast_credential' } as const;

/**
 * The tokens that a browser was signed in with, the one to try first. A request that changes something must say which
 * page it comes from: the origin is checked with the host.
 */
export function cookieTokens(request: Request): string[] {
  const sent = request.headers.get('cookie');
  const isSafe = request.method === 'GET' || request.method === 'HEAD';
  const cookies = sent === null ? {} : parse(sent);
  const tokens = [...(isSafe ? [] : [cookies[names.deciding]]), cookies[names.reading]].filter(
    (token) => token !== undefined && /^[\x21-\x7e]{1,8192}$/.test(token),
  );
  if (tokens.length > 0 && !isSafe && request.headers.get('origin') === null)
    throw problem('forbidden', 'Missing Origin.', { next: 'use the dashboard, or a bearer token' });
  return tokens as string[];
}

export const signOutCookies = (publicUrl: URL): string[] =>
  Object.values(names).map((name) => serialize(name, '', { ...attributesFor(publicUrl), maxAge: 0 }));

/** Those of a server at this address. */
export const cookiesOf =
  (publicUrl: URL) =>
  (name: keyof typeof names, token: string, maxAge?: number): string =>
    serialize(names[name], token, {
      ...attributesFor(publicUrl),
      ...(maxAge === undefined ? {} : { maxAge }),
    });

/** Out of reach of scripts and of other sites. */
const attributesFor = ({ protocol }: URL) =>
  ({ httpOnly: true, sameSite: 'Strict', path: '/', secure: protocol === 'https:' }) as const;
