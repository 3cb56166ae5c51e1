import { expect, test } from 'vitest';
import { createEventStream, encodeEvent } from './event-stream.ts';

function openStream(maxQueued?: number) {
  const changes: number[] = [];
  let ends = 0;
  const stream = createEventStream({
    signal: new AbortController().signal,
    heartbeatMs: 60_000,
    onQueued: (change) => changes.push(change),
    onEnd: () => {
      ends += 1;
    },
    ...(maxQueued === undefined ? {} : { maxQueued }),
  });
  return {
    stream,
    queued: () => changes.reduce((sum, change) => sum + change, 0),
    ends: () => ends,
  };
}

test('[S2] a reader gets every event once, in pieces, and what it has not read is counted', async () => {
  const { stream, queued } = openStream();
  const events = ['a', 'b'.repeat(1_000_000), 'c', 'd'.repeat(200_000)].map((text) => `data: ${text}\n\n`);
  for (const event of events) stream.write(encodeEvent(event));
  expect(queued()).toBe(stream.queued);
  expect(queued()).toBeGreaterThan(1_000_000);
  let text = '';
  const decoder = new TextDecoder();
  const reader = stream.response.body?.getReader();
  while (text.length < events.join('').length) {
    const { value = new Uint8Array() } = (await reader?.read()) ?? {};
    expect(value.byteLength).toBeLessThanOrEqual(64 * 1024);
    text += decoder.decode(value);
  }
  expect(text).toBe(events.join(''));
  expect(queued()).toBe(0);
  stream.end('data: last\n\n');
  expect(decoder.decode((await reader?.read())?.value)).toBe('data: last\n\n');
  expect((await reader?.read())?.done).toBe(true);
});

test('[S2] an event that was sent in part is not followed by another', async () => {
  const { stream, queued, ends } = openStream();
  stream.write(encodeEvent(`data: ${'x'.repeat(500_000)}\n\n`));
  stream.end('event: reconnect\n\n');
  expect([queued(), ends()]).toEqual([0, 1]);
  expect(await new Response(stream.response.body).text()).toMatch(/^data: x+$/);
});

test('[S2] a reader that is too far behind is disconnected', () => {
  const { stream, ends } = openStream(100_000);
  stream.write(encodeEvent('x'.repeat(300_000)));
  expect(ends()).toBe(0);
  stream.write(encodeEvent('y'));
  expect(ends()).toBe(1);
});
