import { isIPv6 } from 'node:net';

/** The client's address, or behind trusted proxies the address that the outermost proxy saw. */
export function clientAddress(request: Request, remote: string | undefined, proxies: number): string {
  const forwarded = (request.headers.get('x-forwarded-for') ?? '').split(',').map((each) => each.trim());
  const seen = proxies === 0 ? undefined : forwarded.at(-proxies);
  return networkOf(seen || remote || 'unknown');
}

/** IPv6 clients usually own a /64, so they are limited by that prefix. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return (mapped ?? address).slice(0, 64);
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0');
  return [...groups, ...zeros, ...after].slice(0, 4).join(':');
}
