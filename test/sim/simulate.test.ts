import { expect, test } from 'vitest';
import { plants } from './planted.ts';
import { simulate } from './simulate.ts';

test('[P6/3] [P6/5] nothing that was answered is lost and nothing happens twice, whatever crashes', async () => {
  let crashes = 0;
  let answers = 0;
  for (let seed = 1; seed <= 25; seed += 1) {
    const history = await simulate(seed);
    expect(history.findings, `npm run sim -- --only ${seed}`).toEqual([]);
    crashes += history.crashes;
    answers += history.answers;
  }
  expect(crashes).toBeGreaterThan(200);
  expect(answers).toBeGreaterThan(500);
});

test('[P6/4] without any lock nothing is lost and nothing happens twice either', async () => {
  for (let seed = 201; seed <= 215; seed += 1) {
    const { findings } = await simulate(seed, { lockless: true });
    expect(findings, `seed ${seed}`).toEqual([]);
  }
});

test('[P6/10] whatever is pulled and exchanged meanwhile, each accepted batch is in the journal or set aside', async () => {
  let moved = 0;
  const log = (line: string): void => {
    if (line.endsWith('pull: ok')) moved += 1;
  };
  for (let seed = 301; seed <= 320; seed += 1) {
    const { findings } = await simulate(seed, { movers: 3, log });
    expect(findings, `seed ${seed}`).toEqual([]);
  }
  expect(moved).toBeGreaterThan(20);
});

test('the same seed gives the same history, call by call', async () => {
  const lines = async (seed: number): Promise<{ trace: string; log: string[] }> => {
    const log: string[] = [];
    const { trace } = await simulate(seed, { log: (line) => log.push(line) });
    return { trace, log };
  };
  for (let seed = 101; seed <= 120; seed += 1) expect(await lines(seed)).toEqual(await lines(seed));
  expect((await simulate(101)).trace).not.toBe((await simulate(102)).trace);
});

// Half a write and a power loss are what most of them need.
const faults = { kill: 0, powerLoss: 150, ioError: 10 };

// Where nothing crashes more pulls come to their end.
const calm = { movers: 6, lockless: true, faults: { kill: 0, powerLoss: 0 } };

test.for(plants)('the simulator finds a planted bug: %s', async (plant) => {
  const options = plant.startsWith('transfer-') ? calm : { faults };
  let found = 0;
  for (let seed = 1; seed <= 150 && found === 0; seed += 1) {
    const { findings } = await simulate(seed, { plant, ...options });
    if (findings.length > 0) found = seed;
  }
  expect(found).toBeGreaterThan(0);
});
