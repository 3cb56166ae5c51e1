import assert from 'node:assert';
import { test } from 'node:test';
import { total } from './cart.js';

test('the total is the sum of all items', () =>
  assert.equal(
    total([
      { price: 3, count: 2 },
      { price: 4, count: 1 },
    ]),
    10,
  ));
