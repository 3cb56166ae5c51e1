import { problem } from './problem.ts';

/** The `Host` and `Origin` values that the server accepts. */
export interface HostRules {
  /** Values of `Host`, with the port unless it is the default. */
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
}

/** Stops DNS rebinding (foreign `Host`) and calls from foreign web pages (foreign `Origin`). */
export function checkHost(request: Request, { hosts, origins }: HostRules): void {
  const host = (request.headers.get('host') ?? '').toLowerCase();
  if (!hosts.has(host))
    throw problem('forbidden', 'Host not allowed.', {
      next: 'use the public URL of the server, or start it with --allow-host',
    });
  const origin = request.headers.get('origin');
  if (origin !== null && !origins.has(origin.toLowerCase()))
    throw problem('forbidden', 'Origin not allowed.', {
      next: 'call the server without a browser, or start it with --allow-origin',
    });
}

/** Allows the public URL, the listening address and the configured extras. */
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
  const withPort = (name: string): string => (port === 80 ? name : `${name}:${port}`);
  const hosts = [publicUrl.host, ...[...local, ...named].map(withPort), ...allowedHosts];
  // Its own pages, where it has no other name.
  const pages = isLoopback(publicUrl.hostname) ? local.map((name) => `http://${withPort(name)}`) : [];
  return {
    hosts: new Set(hosts.map((each) => each.toLowerCase())),
    origins: new Set([publicUrl.origin, ...pages, ...allowedOrigins].map((each) => each.toLowerCase())),
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
