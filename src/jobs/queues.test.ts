import { expect, test } from 'vitest';
import { deliveryId, idOf } from './queues.ts';

test('ids are UUIDs derived from every part', () => {
  expect(idOf('a', 1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(idOf('a', 1)).toBe(idOf('a', 1));
  expect(new Set([idOf('a', 1), idOf('a', '1'), idOf('a1'), idOf('a', 2)]).size).toBe(4);
});

test('a delivery keeps its id across attempts, and each reminder has its own', () => {
  const delivery = { project: 1, webhook: 'wh', run: 'run', seq: 3 };
  const reminder = { of: 'position', since: 5, count: 1 } as const;
  const ids = [
    deliveryId(delivery),
    deliveryId({ ...delivery, seq: 4 }),
    deliveryId({ ...delivery, webhook: 'other' }),
    deliveryId({ ...delivery, reminder }),
    deliveryId({ ...delivery, reminder: { ...reminder, count: 2 } }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(deliveryId({ ...delivery, seq: 9, reminder })).toBe(ids[3]);
});
