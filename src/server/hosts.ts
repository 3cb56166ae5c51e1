import { problem } from './problem.ts';

/** Who may be asked, and by whose pages. */
export interface HostRules {
  /** Values of `Host`, with their port where it is not the usual one. */
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
}

/** A page that made its name point here has another `Host`, and a page of somebody else another `Origin`. */
export function checkHost(request: Request, { hosts, origins }: HostRules): void {
  const host = (request.headers.get('host') ?? '').toLowerCase();
  if (!hosts.has(host))
    throw problem('forbidden', 'This server does not answer for that host.', {
      next: 'use its own address, or let the server know the other one with --allow-host',
    });
  const origin = request.headers.get('origin');
  if (origin !== null && !origins.has(origin.toLowerCase()))
    throw problem('forbidden', 'Pages of that origin may not use this server.', {
      next: 'call it without a browser, or let the server know the origin with --allow-origin',
    });
}

/** The hosts of a server: its public address, what it listens on, and what was named beside them. */
export function hostRules(options: {
  publicUrl: URL;
  host: string;
  port: number;
  allowedHosts?: readonly string[];
  allowedOrigins?: readonly string[];
}): HostRules {
  const { publicUrl, host, port, allowedHosts = [], allowedOrigins = [] } = options;
  const local = isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]'] : [];
  const named = host === '0.0.0.0' || host === '::' ? [] : [host.includes(':') ? `[${host}]` : host];
  const hosts = [
    publicUrl.host,
    ...[...local, ...named].map((name) => (port === 80 ? name : `${name}:${port}`)),
    ...allowedHosts,
  ];
  return {
    hosts: new Set(hosts.map((each) => each.toLowerCase())),
    origins: new Set([publicUrl.origin, ...allowedOrigins].map((each) => each.toLowerCase())),
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
