import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

test('[P6/3] [P6/5] nothing that was answered is lost and nothing happens twice, whatever crashes', async () => {
  let crashes = 0;
  let answers = 0;
  for (let seed = 1; seed <= 10; seed += 1) {
    const history = await simulate(seed);
    expect(history.findings, `npm run sim -- --only ${seed}`).toEqual([]);
    crashes += history.crashes;
    answers += history.answers;
  }
  expect(crashes).toBeGreaterThan(80);
  expect(answers).toBeGreaterThan(200);
});

test('[P6/4] without any lock nothing is lost and nothing happens twice either', async () => {
  for (let seed = 201; seed <= 208; seed += 1) {
    const { findings } = await simulate(seed, { lockless: true });
    expect(findings, `seed ${seed}`).toEqual([]);
  }
});

test('[P6/10] whatever is pulled and exchanged meanwhile, each accepted batch is in the journal or set aside', async () => {
  let moved = 0;
  const log = (line: string): void => {
    if (line.endsWith('pull: ok')) moved += 1;
  };
  for (let seed = 301; seed <= 310; seed += 1) {
    const { findings } = await simulate(seed, { movers: 3, log });
    expect(findings, `seed ${seed}`).toEqual([]);
  }
  expect(moved).toBeGreaterThan(10);
});

test('the same seed gives the same history, call by call', async () => {
  const lines = async (seed: number): Promise<{ trace: string; log: string[] }> => {
    const log: string[] = [];
    const { trace } = await simulate(seed, { log: (line) => log.push(line) });
    return { trace, log };
  };
  for (let seed = 101; seed <= 105; seed += 1) expect(await lines(seed)).toEqual(await lines(seed));
  expect((await simulate(101)).trace).not.toBe((await simulate(102)).trace);
});
