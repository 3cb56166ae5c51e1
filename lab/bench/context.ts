/** Cost and correctness of briefings: `npm run bench -- context [--runs N]`. */
import { parseArgs } from 'node:util';
import { getTokenizer } from '@anthropic-ai/tokenizer';
import fc from 'fast-check';
import { compileBriefing } from '../../src/context/index.ts';
import { randomCap, randomSource } from '../../test/properties/briefings.ts';
import { Dice } from '../../test/properties/dice.ts';
import { missingIn } from '../../test/properties/whole.ts';
import { workflow } from '../../test/properties/workflows.ts';
import { benchPrime, type PrimeFigures } from './context/prime.ts';

interface Figures {
  runs: number;
  /** Briefings over the cap, by tokenizer instead of estimate. */
  overBudget: number;
  /** Briefings that lack something of the first four sections. */
  notWhole: number;
  compileMs: { p50: number; p99: number };
  /** The largest share of the token budget that a briefing used. */
  fullest: number;
}

/** Prints a table. */
export async function bench({ runs = runsAsked() } = {}): Promise<object> {
  const random = compileRandom(runs);
  // The documented history length, or a short one for a smoke test.
  const prime = await benchPrime(runs < 10_000 ? { tasks: 200, megabytes: 2 } : {});
  print(random, prime);
  const { compileMs, ...figures } = random;
  return { ...figures, compileMs: compileMs.p50, compileP99Ms: compileMs.p99, ...prime };
}

/** Correction factor, because the published tokenizer belongs to an older model. */
const margin = 1.3;

function compileRandom(runs: number): Figures {
  const tokenizer = getTokenizer();
  const count = (text: string): number => tokenizer.encode(text.normalize('NFKC'), 'all').length * margin;
  const times: number[] = [];
  let overBudget = 0;
  let notWhole = 0;
  let fullest = 0;
  for (const [seed, definition] of fc.sample(workflow, { numRuns: runs, seed: 4 }).entries()) {
    const source = randomSource(definition, seed);
    const cap = randomCap(new Dice(seed));
    const started = performance.now();
    const briefing = compileBriefing(source, cap);
    times.push(performance.now() - started);
    const tokens = cap.tokens === undefined ? 0 : count(briefing.markdown) / cap.tokens;
    const characters = cap.characters === undefined ? 0 : briefing.markdown.length / cap.characters;
    const missing = missingIn(briefing, source);
    if (tokens > 1 || characters > 1)
      console.error(`seed ${seed} exceeds its budget: ${tokens} tokens, ${characters} characters`);
    if (missing.length > 0) console.error(`seed ${seed} lacks ${missing.join('; ')}`);
    overBudget += Number(tokens > 1 || characters > 1);
    notWhole += Number(missing.length > 0);
    fullest = Math.max(fullest, tokens);
  }
  tokenizer.free();
  times.sort((one, other) => one - other);
  const at = (share: number): number => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(2));
  return {
    runs,
    overBudget,
    notWhole,
    compileMs: { p50: at(0.5), p99: at(0.99) },
    fullest: Number(fullest.toFixed(2)),
  };
}

function runsAsked(): number {
  const { values } = parseArgs({
    options: { runs: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  return typeof values.runs === 'string' ? Number(values.runs) : 10_000;
}

function print(
  { runs, overBudget, notWhole, compileMs, fullest }: Figures,
  { tasks, megabytes, smallMs, largeMs, largeToSmallRatio }: PrimeFigures,
): void {
  const rows: [string, string][] = [
    ['briefings compiled', String(runs)],
    ['over their budget', String(overBudget)],
    ['sections 1 to 4 not whole', String(notWhole)],
    ['to compile, p50', `${compileMs.p50} ms`],
    ['to compile, p99', `${compileMs.p99} ms`],
    ['fullest, of its tokens', `${Math.round(fullest * 100)} %`],
    ['prime, 3 tasks', `${smallMs} ms`],
    [`prime, ${tasks} tasks, ${megabytes} MB`, `${largeMs} ms`],
    ['large to small', `${largeToSmallRatio} ×`],
  ];
  for (const [name, value] of rows) console.log(`${name.padEnd(28)}${value.padStart(10)}`);
}
