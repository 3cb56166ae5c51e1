import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { StepfastError } from '../../errors.ts';

/** Webhook targets that the operator allows besides https on public addresses. */
export interface AllowedTargets {
  http: boolean;
  /** Loopback, link-local and private addresses. */
  privateAddresses: boolean;
}

/** IPv4 ranges that are not public (IANA special-purpose registry). */
const special4 = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  special4.addSubnet(net, bits, 'ipv4');

/** IPv6 global unicast, minus tunnels and documentation ranges. */
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
const special6 = new BlockList();
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(net, bits, 'ipv6');

/** Returns false for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special4.check(address, 'ipv4');
  return family === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/** Why the URL cannot be used, as the end of a sentence. Does not resolve the host name. */
export function urlProblem(given: string, allow: AllowedTargets): string | undefined {
  if (!URL.canParse(given)) return 'is not a URL';
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither https nor http';
  if (url.protocol === 'http:' && !allow.http) return 'is not https';
  if (url.username !== '' || url.password !== '') return 'contains a user name or password';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !allow.privateAddresses && !isPublicAddress(host))
    return `points to ${host}, which is not a public address`;
  return undefined;
}

/**
 * Checks the addresses that the connection itself uses, which rules out DNS rebinding. One address that is not public
 * rejects the host name.
 */
export function guardedLookup(
  allow: Pick<AllowedTargets, 'privateAddresses'>,
  lookup: typeof systemLookup = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const blocked = allow.privateAddresses
        ? undefined
        : addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (blocked || !first) return callback(refused(hostname, blocked?.address), '');
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

const refused = (hostname: string, address: string | undefined): StepfastError =>
  new StepfastError(
    'webhook_refused',
    address === undefined
      ? `${hostname} does not resolve`
      : `${hostname} resolves to ${address}, which is not a public address`,
  );
