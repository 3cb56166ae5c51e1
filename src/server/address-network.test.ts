import { expect, test } from 'vitest';
import { networkOf } from './address-network.ts';

test.each([
  ['127.0.0.1', 'loopback'],
  ['127.0.0.13', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.5', 'loopback'],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['', ''],
])('%s is of %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
