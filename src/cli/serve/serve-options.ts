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

/** Validated options of the server. */
export interface ServeSettings {
  url: string;
  host: string;
  port: number;
  publicUrl: URL | undefined;
  allowedHosts: string[];
  allowedOrigins: string[];
  proxies: number;
  connections: number;
  perSecond: number | undefined;
  retentionMonths: number | undefined;
  jobs: boolean;
  /** Webhook targets allowed besides https on public addresses. */
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
  const integer = (name: keyof Values, min: number, max: number, variable?: string): number | undefined => {
    const value = text(name, variable);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw usageError(`--${name} takes a number from ${min} to ${max}, not '${value.slice(0, 40)}'.`);
  };
  const host = text('host', 'STEPFAST_HOST') ?? '127.0.0.1';
  const publicUrl = urlFrom(text('public-url', 'STEPFAST_PUBLIC_URL'));
  const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  if (!loopback && !publicUrl)
    throw usageError(
      `Listening on ${host.slice(0, 80)} makes this server public: set --public-url https://...`,
    );
  const logLevel = text('log-level') ?? 'info';
  if (!levels.includes(logLevel)) throw usageError(`--log-level must be one of ${levels.join(', ')}.`);
  return {
    url: databaseUrl({ 'database-url': text('database-url') }, io),
    host,
    port: integer('port', 0, 65_535, 'STEPFAST_PORT') ?? defaultPort,
    publicUrl,
    allowedHosts: list('allow-host'),
    allowedOrigins: list('allow-origin'),
    proxies: integer('proxies', 0, 10) ?? 0,
    connections: integer('connections', 1, 500) ?? 16,
    perSecond: integer('rate', 1, 1_000_000),
    retentionMonths: integer('retention-months', 1, 240, 'STEPFAST_RETENTION_MONTHS'),
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
  throw usageError('--public-url takes a URL without a path, such as https://stepfast.example.com.');
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
    throw usageError('--issuer and --jwks must be used together.');
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

function keysFrom(location: string): Issuer['keys'] {
  if (/^https?:/.test(location)) {
    const url = URL.canParse(location) ? new URL(location) : undefined;
    const isLocal = url && /^(localhost|127\..*|\[::1\])$/.test(url.hostname);
    if (url && (url.protocol === 'https:' || isLocal)) return url;
    throw usageError('--jwks takes an https URL or a file: keys sent over http could be forged.');
  }
  try {
    const keys = JSON.parse(readFileSync(location, 'utf8'));
    if (Array.isArray(keys?.keys)) return keys;
  } catch {
    // Reported below.
  }
  throw usageError(`${location.slice(0, 200)} is not a JSON Web Key Set.`);
}
