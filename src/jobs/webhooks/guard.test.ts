import type { LookupAddress, lookup } from 'node:dns';
import { expect, test } from 'vitest';
import { guardedLookup, isPublicAddress, urlProblem } from './guard.ts';

const strict = { http: false, privateAddresses: false };

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  'fe80::1',
  'fd00::1',
  'ff02::1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  'localhost',
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['1.1.1.1', '172.32.0.1', '8.8.8.8', '2606:4700::1111', '2a00:1450::1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  ['http://example.com/', 'is not https'],
  ['ftp://example.com/', 'neither https nor http'],
  ['nonsense', 'is not a URL'],
  ['https://user:word@example.com/', 'password'],
  ['https://127.0.0.1/', 'not a public address'],
  ['https://2130706433/', 'not a public address'],
  ['https://0x7f.1/', 'not a public address'],
  ['https://[::1]/', 'not a public address'],
  ['https://[::ffff:10.0.0.1]/', 'not a public address'],
])('%s is rejected as a webhook', (url, why) => {
  expect(urlProblem(url, strict)).toContain(why);
});

test('https is accepted, and http and private addresses only where allowed', () => {
  expect(urlProblem('https://example.com/hook', strict)).toBeUndefined();
  expect(urlProblem('http://127.0.0.1:1/', { http: true, privateAddresses: true })).toBeUndefined();
});

test('a host name with one private address among public ones is rejected at connect time', async () => {
  await expect(resolved(['1.1.1.1', '10.0.0.1'], false)).rejects.toThrow('10.0.0.1');
  await expect(resolved([], false)).rejects.toMatchObject({ code: 'webhook_refused' });
  expect(await resolved(['1.1.1.1'], false)).toBe('1.1.1.1');
  expect(await resolved(['10.0.0.1'], true)).toBe('10.0.0.1');
});

function resolved(addresses: string[], privateAddresses: boolean): Promise<string> {
  const found = addresses.map((address): LookupAddress => ({ address, family: 4 }));
  // Only the overload with `all` is called.
  const fake = ((_: string, __: object, callback: (error: null, all: LookupAddress[]) => void) =>
    callback(null, found)) as typeof lookup;
  return new Promise((resolve, reject) => {
    guardedLookup({ privateAddresses }, fake)('example.com', {}, (error, address) => {
      if (error) reject(error);
      else resolve(String(address));
    });
  });
}
