import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf } from './address.ts';
import { hostRules } from './hosts.ts';
import { isDeeperThan } from './nesting.ts';
import { createRate } from './rate.ts';
import { isToken } from './token.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('the scan of a text knows the depth of every JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (value, most) => {
      expect(isDeeperThan(JSON.stringify(value), most)).toBe(depthOf(value) > most);
    }),
  );
  expect(isDeeperThan('"\\\\"[[[', 2)).toBe(true);
  expect(isDeeperThan('{"a":"[[[[\\"[[["}', 1)).toBe(false);
});

test('a rate refills with time and forgets the oldest names first', () => {
  let now = 0;
  const rate = createRate({ perSecond: 2, burst: 3, clock: () => now, most: 2 });
  const takes = (name: string, times: number): boolean[] =>
    Array.from({ length: times }, () => rate.take(name));
  expect(takes('a', 4)).toEqual([true, true, true, false]);
  rate.giveBack('a');
  expect(takes('a', 2)).toEqual([true, false]);
  rate.giveBack('nobody');
  now += 500;
  expect(takes('a', 2)).toEqual([true, false]);
  // A clock that goes back gives nothing away.
  now -= 10_000;
  expect(rate.take('a')).toBe(false);
  takes('b', 1);
  takes('c', 1);
  expect(rate.size).toBe(2);
});

test('an address is what the last proxy of our own saw, an IPv6 one by its network', () => {
  const request = (forwarded?: string): Request =>
    new Request('http://x/', forwarded === undefined ? {} : { headers: { 'X-Forwarded-For': forwarded } });
  expect(addressOf(request('6.6.6.6'), '10.0.0.1', 0)).toBe('10.0.0.1');
  expect(addressOf(request('6.6.6.6, 1.2.3.4'), '10.0.0.1', 1)).toBe('1.2.3.4');
  expect(addressOf(request('6.6.6.6, 1.2.3.4, 10.0.0.2'), '10.0.0.1', 2)).toBe('1.2.3.4');
  expect(addressOf(request(), '10.0.0.1', 1)).toBe('10.0.0.1');
  expect(addressOf(request(), '::ffff:10.0.0.1', 0)).toBe('10.0.0.1');
  expect(addressOf(request(), undefined, 0)).toBe('unknown');
  const one = addressOf(request(), '2001:db8:1:2:3:4:5:6', 0);
  expect(addressOf(request(), '2001:db8:1:2::9', 0)).toBe(one);
  expect(addressOf(request(), '2001:db8:1:3::9', 0)).not.toBe(one);
});

test('a server answers to its public name, and to this machine only where it listens there', () => {
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

test('a token has its form, and nothing else has', () => {
  const token = `sf_0123456789abcdef_${'aZ0_-'.repeat(9).slice(0, 43)}`;
  expect(isToken(token)).toBe(true);
  for (const other of ['', 'sf_', `${token}x`, token.slice(0, -1), token.replace('sf_', 'SF_'), `${token}\n`])
    expect(isToken(other)).toBe(false);
});
