import type { Context } from 'hono';
import type { createAuditor } from './audit.ts';
import type { Auth } from './auth.ts';
import { parseJson, readJsonText } from './body.ts';
import { type SignInBody, signInBrowser, signInSchema } from './browser-session.ts';
import { signOutCookie } from './cookies.ts';
import { createDeviceSignIn } from './device-sign-in.ts';
import type { Issuer } from './jwt.ts';
import type { Limits } from './limits.ts';
import type { People } from './people.ts';
import type { Env } from './request-info.ts';
import { checked } from './serve-route.ts';

interface SignInOptions {
  auth: Auth;
  people: People;
  issuer: Issuer | undefined;
  publicUrl: URL;
  limits: Limits;
  auditor: ReturnType<typeof createAuditor>;
  clock(): number;
}

/** What browsers post to sign in and out. */
export function signInRoutes({
  limits,
  auditor,
  issuer,
  clock,
  ...options
}: SignInOptions): Record<string, (c: Context<Env>) => Promise<Response>> {
  const { publicUrl } = options;
  const device = createDeviceSignIn({ issuer, publicUrl, clock });
  return {
    async '/sign-in'(c) {
      const sent = parseJson(await readJsonText(c.req.raw, limits, c.env.incoming));
      const body = checked(signInSchema, sent, 'not_understood') as SignInBody;
      const info = c.get('info');
      const { id, address } = info;
      const signed = await signInBrowser(body, { ...options, request: c.req.raw, address, device });
      if (signed === 'pending') return c.json({}, 202);
      const { principal, credential, cookie } = signed;
      info.principal = principal;
      const audit = auditor({ principal, address, request: id });
      await audit({ action: 'person.signed_in', subject: principal.name });
      if (cookie !== undefined) c.header('Set-Cookie', cookie);
      return c.json({ token: credential });
    },
    '/sign-in/device': async (c) => c.json(await device.start(c.get('info').address)),
    '/sign-out': async (c) => c.body(null, 204, { 'Set-Cookie': signOutCookie(publicUrl) }),
  };
}
