import { readFileSync } from 'node:fs';
import type { Issuer } from '../../server/index.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { databaseOptions, databaseUrl } from './database.ts';

export const options = {
  'database-url': databaseOptions['database-url'],
  host: { type: 'string' },
  port: { type: 'string' },
  'public-url': { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  'allow-origin': { type: 'string', multiple: true },
  proxies: { type: 'string' },
  issuer: { type: 'string' },
  audience: { type: 'string', multiple: true },
  jwks: { type: 'string' },
  'project-claim': { type: 'string' },
  'kind-claim': { type: 'string' },
  'scope-claim': { type: 'string' },
  connections: { type: 'string' },
  rate: { type: 'string' },
  'retention-months': { type: 'string' },
  'no-jobs': { type: 'boolean' },
  'webhooks-allow-http': { type: 'boolean' },
  'webhooks-allow-private': { type: 'boolean' },
  'log-level': { type: 'string' },
  migrate: { type: 'boolean' },
} as const;

type Values = { [K in keyof typeof options]?: string | string[] | boolean | undefined };

/** What was asked of the server, looked at. */
export interface ServeSettings {
  url: string;
  host: string;
  port: number;
  publicUrl?: URL;
  allowedHosts: string[];
  allowedOrigins: string[];
  proxies: number;
  connections: number;
  perSecond?: number;
  retentionMonths?: number;
  jobs: boolean;
  /** Where webhooks may lead beside public https addresses. */
  webhookTargets: { http: boolean; privateAddresses: boolean };
  logLevel: string;
  migrate: boolean;
  issuerFor(publicUrl: URL): Issuer | undefined;
}

export const defaultPort = 7437;
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'];

/** Throws a usage error. */
export function settingsFrom(values: Values, io: Io): ServeSettings {
  const text = (name: keyof Values, variable?: string): string | undefined => {
    const value = values[name] ?? (variable === undefined ? undefined : io.env[variable]?.trim());
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const list = (name: keyof Values): string[] => {
    const value = values[name];
    return Array.isArray(value) ? value : [];
  };
  const whole = (name: keyof Values, least: number, most: number, variable?: string): number | undefined => {
    const value = text(name, variable);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw usageError(`--${name} takes a number from ${least} to ${most}, not '${value.slice(0, 40)}'.`);
  };
  const host = text('host', 'STEPFAST_HOST') ?? '127.0.0.1';
  const publicUrl = urlFrom(text('public-url', 'STEPFAST_PUBLIC_URL'));
  const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  if (!loopback && !publicUrl)
    throw usageError(
      `On ${host.slice(0, 80)} others reach this server: say the address that they use with --public-url https://...`,
    );
  const logLevel = text('log-level') ?? 'info';
  if (!levels.includes(logLevel)) throw usageError(`--log-level is one of ${levels.join(', ')}.`);
  const perSecond = whole('rate', 1, 1_000_000);
  const retentionMonths = whole('retention-months', 1, 240, 'STEPFAST_RETENTION_MONTHS');
  return {
    url: databaseUrl({ 'database-url': text('database-url') }, io),
    host,
    port: whole('port', 0, 65_535, 'STEPFAST_PORT') ?? defaultPort,
    ...(publicUrl ? { publicUrl } : {}),
    allowedHosts: list('allow-host'),
    allowedOrigins: list('allow-origin'),
    proxies: whole('proxies', 0, 10) ?? 0,
    connections: whole('connections', 1, 500) ?? 16,
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(retentionMonths === undefined ? {} : { retentionMonths }),
    jobs: values['no-jobs'] !== true,
    webhookTargets: {
      http: values['webhooks-allow-http'] === true,
      privateAddresses: values['webhooks-allow-private'] === true,
    },
    logLevel,
    migrate: values.migrate === true,
    issuerFor: issuerFrom({
      issuer: text('issuer', 'STEPFAST_ISSUER'),
      jwks: text('jwks', 'STEPFAST_JWKS'),
      audience: list('audience'),
      claims: { project: text('project-claim'), kind: text('kind-claim'), scope: text('scope-claim') },
    }),
  };
}

function urlFrom(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.username === '') return url;
  throw usageError('--public-url takes an address without a path, such as https://stepfast.example.com.');
}

interface IssuerFlags {
  issuer: string | undefined;
  jwks: string | undefined;
  audience: string[];
  claims: Record<'project' | 'kind' | 'scope', string | undefined>;
}

function issuerFrom({ issuer, jwks, audience, claims }: IssuerFlags): (publicUrl: URL) => Issuer | undefined {
  if (issuer === undefined && jwks === undefined) return () => undefined;
  if (issuer === undefined || jwks === undefined)
    throw usageError('--issuer and --jwks belong together: who signs tokens, and with which keys.');
  const named = Object.fromEntries(
    Object.entries(claims).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  const keys = keysFrom(jwks);
  return ({ origin }) => ({
    issuer,
    audience: audience.length > 0 ? audience : [origin, `${origin}/`, `${origin}/mcp`],
    keys,
    claims: named,
  });
}

function keysFrom(place: string): Issuer['keys'] {
  if (/^https?:/.test(place)) {
    const url = URL.canParse(place) ? new URL(place) : undefined;
    const near = url && /^(localhost|127\..*|\[::1\])$/.test(url.hostname);
    if (url && (url.protocol === 'https:' || near)) return url;
    throw usageError(
      '--jwks takes an https address or a file: keys that travel in the open are anybody\u2019s.',
    );
  }
  try {
    const keys = JSON.parse(readFileSync(place, 'utf8'));
    if (Array.isArray(keys?.keys)) return keys;
  } catch {
    // Said below.
  }
  throw usageError(`${place.slice(0, 200)} holds no JSON Web Key Set.`);
}
