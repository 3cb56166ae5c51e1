import { isIP } from 'node:net';

/** The client's address, or behind trusted proxies the address that the outermost proxy saw. For logs. */
export function clientAddress(request: Request, remote: string | undefined, proxies: number): string {
  const forwarded = (request.headers.get('x-forwarded-for') ?? '').split(',').map((each) => each.trim());
  const seen = proxies === 0 ? '' : withoutPort(forwarded.at(-proxies) ?? '');
  const address = isIP(seen) === 0 ? (remote ?? 'unknown') : seen;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const withoutPort = (text: string): string =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text;

/** The id that a trusted proxy gave the request, so that its log and ours agree. */
export function proxiedRequestId(request: Request, proxies: number): string | undefined {
  const given = proxies === 0 ? null : request.headers.get('x-request-id');
  return given !== null && /^[\w.:-]{8,128}$/.test(given) ? given : undefined;
}
