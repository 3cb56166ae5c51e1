import { hostname } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import type { DriverProcess } from '../machine/index.ts';
import type { LocalRuntime, Request } from '../runtime/index.ts';
import { type Lease, takeLease } from './lease.ts';

afterEach(() => void vi.useRealTimers());

type Drive = Extract<Request, { type: 'drive' }>;
const here = { machine: hostname(), boot: 'this-boot' };
/** Above the largest pid. */
const dead = 2 ** 22 + 1;

/** A runtime with one run, which had this driver last. */
function runtimeAfter(last?: DriverProcess) {
  const asked: Drive[] = [];
  let answer: object = {};
  const driver = last && { epoch: 7, process: last };
  const runtime = {
    workspace: { gates: { host: here.boot } },
    engine: { view: async () => ({ state: { driver } }) },
    call: async (request: Drive) => {
      asked.push(request);
      return { reply: answer };
    },
  };
  return {
    // It needs no more of a runtime.
    runtime: runtime as unknown as LocalRuntime,
    asked,
    refuse: (code: string) => {
      answer = { code, params: {} };
    },
  };
}

it.each([
  ['has ended', { ...here, pid: dead }, 7],
  ['runs', { ...here, pid: process.pid }, undefined],
  ['ran before a restart of this machine', { ...here, pid: dead, boot: 'another' }, undefined],
  ['ran on another machine', { ...here, pid: dead, machine: 'another' }, undefined],
])('only a driver that has ended here is reported as gone: it %s', async (_, last, gone) => {
  const { runtime, asked } = runtimeAfter(last);
  const lease = (await takeLease(runtime, 'run', 'branch')) as Lease;
  await lease.release();
  expect(asked).toMatchObject([
    { change: 'take', branch: 'branch' },
    { change: 'release', epoch: 7 },
  ]);
  expect(asked[0]?.gone).toBe(gone);
});

it('a refused lease is returned', async () => {
  const { runtime, refuse } = runtimeAfter();
  refuse('driver_held');
  expect(await takeLease(runtime, 'run', undefined)).toMatchObject({ code: 'driver_held' });
});

it('is renewed each minute, and lost when another driver has the run', async () => {
  vi.useFakeTimers();
  const { runtime, asked, refuse } = runtimeAfter();
  const { lost, release } = (await takeLease(runtime, 'run', undefined)) as Lease;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(asked.map(({ change }) => change)).toEqual(['take', 'renew', 'renew']);
  expect(lost.aborted).toBe(false);
  refuse('stale_driver');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lost.aborted).toBe(true);
  await release();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(asked.map(({ change }) => change)).toEqual(['take', 'renew', 'renew', 'renew', 'release']);
});
