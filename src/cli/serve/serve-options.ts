import { readFileSync } from 'node:fs';
import type { Issuer } from '../../server/index.ts';
import type { Quotas } from '../../store/postgres/index.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { databaseOptions, databaseUrl } from './database.ts';

export const options = {
  'database-url': databaseOptions['database-url'],
  host: { type: 'string' },
  port: { type: 'string' },
  'metrics-host': { type: 'string' },
  'metrics-port': { type: 'string' },
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
  'client-id': { type: 'string' },
  'client-scope': { type: 'string' },
  connections: { type: 'string' },
  rate: { type: 'string' },
  'project-runs': { type: 'string' },
  'project-workflows': { type: 'string' },
  'project-megabytes': { type: 'string' },
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
  /** Without a port, no metrics are served. */
  metrics: { host: string; port: number } | undefined;
  publicUrl: URL | undefined;
  allowedHosts: string[];
  allowedOrigins: string[];
  proxies: number;
  connections: number;
  perSecond: number | undefined;
  quotas: Quotas;
  retentionMonths: number | undefined;
  jobs: boolean;
  /** Webhook targets allowed besides https on public addresses. */
  webhookTargets: { http: boolean; privateAddresses: boolean };
  logLevel: string;
  migrate: boolean;
  issuerFor(publicUrl: URL): Issuer | undefined;
}

export const defaultPort = 7437;
const defaultClientScope = 'openid read write gates decide';
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'];

/** The environment variable that sets an option: `--public-url` is `STEPFAST_PUBLIC_URL`. */
export const variableOf = (name: string): string => `STEPFAST_${name.replaceAll('-', '_').toUpperCase()}`;

/** Every option may also come from the environment; the command line wins. Throws a usage error. */
export function settingsFrom(values: Values, io: Io): ServeSettings {
  const given = (name: keyof Values) => values[name] ?? io.env[variableOf(name)]?.trim();
  const text = (name: keyof Values): string | undefined => {
    const value = given(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const list = (name: keyof Values): string[] => {
    const value = given(name);
    if (Array.isArray(value)) return value;
    const parts = typeof value === 'string' ? value.split(',') : [];
    return parts.map((each) => each.trim()).filter(Boolean);
  };
  const flag = (name: keyof Values): boolean => {
    const value = given(name) ?? '';
    if (typeof value === 'boolean') return value;
    if (['1', 'true', 'yes'].includes(String(value))) return true;
    if (['', '0', 'false', 'no'].includes(String(value))) return false;
    throw usageError(`${variableOf(name)} must be true or false, not '${String(value).slice(0, 40)}'.`);
  };
  const integer = (name: keyof Values, min: number, max: number): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw usageError(`--${name} takes a number from ${min} to ${max}, not '${value.slice(0, 40)}'.`);
  };
  const host = text('host') ?? '127.0.0.1';
  const publicUrl = urlFrom(text('public-url'));
  const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  if (!loopback && !publicUrl)
    throw usageError(
      `Listening on ${host.slice(0, 80)} makes this server public: set --public-url https://...`,
    );
  const metricsPort = integer('metrics-port', 0, 65_535);
  const metricsHost = text('metrics-host') ?? '127.0.0.1';
  const logLevel = text('log-level') ?? 'info';
  if (!levels.includes(logLevel)) throw usageError(`--log-level must be one of ${levels.join(', ')}.`);
  return {
    url: databaseUrl({ 'database-url': text('database-url') }, io),
    host,
    port: integer('port', 0, 65_535) ?? defaultPort,
    metrics: metricsPort === undefined ? undefined : { host: metricsHost, port: metricsPort },
    publicUrl,
    allowedHosts: list('allow-host'),
    allowedOrigins: list('allow-origin'),
    proxies: integer('proxies', 0, 10) ?? 0,
    connections: integer('connections', 1, 500) ?? 16,
    perSecond: integer('rate', 1, 1_000_000),
    quotas: {
      runs: integer('project-runs', 1, 1_000_000_000) ?? 1_000_000,
      definitions: integer('project-workflows', 1, 1_000_000) ?? 10_000,
      bytes: (integer('project-megabytes', 1, 1_000_000_000) ?? 100_000) * 2 ** 20,
    },
    retentionMonths: integer('retention-months', 1, 240),
    jobs: !flag('no-jobs'),
    webhookTargets: {
      http: flag('webhooks-allow-http'),
      privateAddresses: flag('webhooks-allow-private'),
    },
    logLevel,
    migrate: flag('migrate'),
    issuerFor: issuerFrom({
      issuer: text('issuer'),
      jwks: text('jwks'),
      audience: list('audience'),
      claims: { project: text('project-claim'), kind: text('kind-claim'), scope: text('scope-claim') },
      client: { id: text('client-id'), scope: text('client-scope') ?? defaultClientScope },
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
  client: { id: string | undefined; scope: string };
}

function issuerFrom({
  issuer,
  jwks,
  audience,
  claims,
  client: { id, scope },
}: IssuerFlags): (publicUrl: URL) => Issuer | undefined {
  if (issuer === undefined && jwks === undefined && id === undefined) return () => undefined;
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
    ...(id === undefined ? {} : { client: { id, scope } }),
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
