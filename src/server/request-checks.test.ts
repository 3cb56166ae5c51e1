import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostRules } from './allowed-hosts.ts';
import { clientAddress, proxiedRequestId } from './client-address.ts';
import { exceedsDepth } from './json-depth.ts';
import { createRateLimit } from './rate-limit.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('scanning JSON text finds the depth of any value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (value, most) => {
      expect(exceedsDepth(JSON.stringify(value), most)).toBe(depthOf(value) > most);
    }),
  );
  expect(exceedsDepth('"\\\\"[[[', 2)).toBe(true);
  expect(exceedsDepth('{"a":"[[[[\\"[[["}', 1)).toBe(false);
});

test('a rate limit refills over time and evicts the least recently used name', () => {
  let now = 0;
  const rate = createRateLimit({ perSecond: 2, burst: 3, clock: () => now, maxNames: 2 });
  const takes = (name: string, times: number): boolean[] =>
    Array.from({ length: times }, () => rate.take(name));
  expect(takes('a', 4)).toEqual([true, true, true, false]);
  rate.refund('a');
  expect(takes('a', 2)).toEqual([true, false]);
  rate.refund('unknown');
  now += 500;
  expect(takes('a', 2)).toEqual([true, false]);
  // A clock that moves backward refills nothing.
  now -= 10_000;
  expect(rate.take('a')).toBe(false);
  takes('b', 1);
  takes('c', 1);
  expect(rate.size).toBe(2);
});

test('S11: the client address is what the outermost trusted proxy saw', () => {
  const request = (forwarded?: string): Request =>
    new Request('http://x/', forwarded === undefined ? {} : { headers: { 'X-Forwarded-For': forwarded } });
  expect(clientAddress(request('6.6.6.6'), '10.0.0.1', 0)).toBe('10.0.0.1');
  expect(clientAddress(request('6.6.6.6, 1.2.3.4'), '10.0.0.1', 1)).toBe('1.2.3.4');
  expect(clientAddress(request('6.6.6.6, 1.2.3.4, 10.0.0.2'), '10.0.0.1', 2)).toBe('1.2.3.4');
  expect(clientAddress(request(), '10.0.0.1', 1)).toBe('10.0.0.1');
  expect(clientAddress(request(), '::ffff:10.0.0.1', 0)).toBe('10.0.0.1');
  expect(clientAddress(request(), undefined, 0)).toBe('unknown');
  expect(clientAddress(request('2001:db8::9'), '10.0.0.1', 1)).toBe('2001:db8::9');
  expect(clientAddress(request('[2001:db8::9]:443'), '10.0.0.1', 1)).toBe('2001:db8::9');
  expect(clientAddress(request('1.2.3.4:443'), '10.0.0.1', 1)).toBe('1.2.3.4');
  expect(clientAddress(request('<script>'), '10.0.0.1', 1)).toBe('10.0.0.1');
});

test('S11: only a trusted proxy names a request, and only plainly', () => {
  const request = (id: string): Request => new Request('http://x/', { headers: { 'X-Request-Id': id } });
  expect(proxiedRequestId(request('4f1a09c2-d3e4'), 1)).toBe('4f1a09c2-d3e4');
  expect(proxiedRequestId(request('4f1a09c2-d3e4'), 0)).toBeUndefined();
  for (const other of ['', 'short', 'with space in it', 'x'.repeat(129)])
    expect(proxiedRequestId(request(other), 1)).toBeUndefined();
  expect(proxiedRequestId(new Request('http://x/'), 1)).toBeUndefined();
});

test('a server accepts its public host, and loopback hosts only when it listens on loopback', () => {
  const publicUrl = new URL('https://stepfast.example');
  const local = hostRules({ publicUrl, host: '127.0.0.1', port: 7437 });
  expect([...local.hosts].sort()).toEqual([
    '127.0.0.1:7437',
    '[::1]:7437',
    'localhost:7437',
    'stepfast.example',
  ]);
  const open = hostRules({ publicUrl, host: '0.0.0.0', port: 7437, allowedHosts: ['Other.Example:81'] });
  expect([...open.hosts].sort()).toEqual(['other.example:81', 'stepfast.example']);
  expect([...open.origins]).toEqual(['https://stepfast.example']);
});
