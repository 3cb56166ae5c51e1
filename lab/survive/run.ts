/**
 * Measures which facts of a run survive compactions of the real Claude Code:
 * `npm run survive [-- --compactions N] [--mechanism NAME] [--summariser NAME] [--seed N] [--plugin DIR] [--write]`;
 * `--draw` regenerates the page from existing results. `--host NAME` measures another host, with a summarizer that
 * forgets everything.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { sessionHosts } from '../../test/kit/session-hosts.ts';
import { hostPlot, plot } from './drawing.ts';
import { type HostOutcome, playInHost } from './host.ts';
import { type MechanismName, mechanismNames, withoutAny } from './mechanism.ts';
import { mean, type Outcome, outcomeOf, percent } from './outcome.ts';
import { page } from './page.ts';
import { play } from './play.ts';
import { createSeed002 } from './seed-002.ts';
import { copyPlugin, createStepfast } from './stepfast.ts';
import { createSummariser, type SummariserName, summariserNames } from './summarisers.ts';

const atOnce = 2;
/** Minimum for writing the page and for filling the notes. */
const leastWritten = 100;
const docs = join(import.meta.dirname, '..', '..', 'docs');

const { values } = parseArgs({
  options: {
    compactions: { type: 'string', default: '100' },
    mechanism: { type: 'string' },
    summariser: { type: 'string' },
    seed: { type: 'string', default: '1' },
    plugin: { type: 'string' },
    host: { type: 'string' },
    write: { type: 'boolean', default: false },
    draw: { type: 'boolean', default: false },
  },
});
const compactions = Number(values.compactions);
if (!Number.isInteger(compactions) || compactions < 2)
  throw new Error(`--compactions must be at least 2, one per trigger, not '${values.compactions}'`);
const seed = Number(values.seed);
const chosen = <Name extends string>(names: readonly Name[], name: string | undefined): readonly Name[] => {
  const found = names.filter((each) => name === undefined || each === name);
  if (found.length === 0) throw new Error(`unknown name '${name}'. Use one of: ${names.join(', ')}`);
  return found;
};

if (values.draw) write(JSON.parse(readFileSync(join(docs, 'survival.json'), 'utf8')));
else if (values.host !== undefined) await measureHost(values.host);
else await measure();

async function measure(): Promise<void> {
  const pairs = chosen(mechanismNames, values.mechanism).flatMap((mechanism) =>
    chosen(summariserNames, values.summariser).map((summariser) => ({ mechanism, summariser })),
  );
  const complete = pairs.length === mechanismNames.length * summariserNames.length;
  if (values.write && (compactions < leastWritten || !complete))
    throw new Error(`the page needs ${leastWritten} compactions of every pair: remove the other options`);
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-survive-'));
  try {
    if (values.plugin === undefined) ensureBuilt();
    const plugin = copyPlugin(join(directory, 'plugin'), values.plugin);
    const outcomes = await inTurn(pairs, async (pair) => await measured(pair, plugin));
    if (values.write) {
      writeFileSync(join(docs, 'survival.json'), `${JSON.stringify(outcomes, null, 2)}\n`);
      write(outcomes);
    }
    finish(outcomes);
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measureHost(name: string): Promise<void> {
  const host = sessionHosts.find((each) => each.name === name);
  if (!host)
    throw new Error(
      `unknown host '${name}'. Use one of: ${sessionHosts.map((each) => each.name).join(', ')}`,
    );
  ensureBuilt();
  const outcome = await playInHost(host, compactions);
  const { kept, facts, where, lost } = outcome;
  console.log(`${name}: ${compactions} compactions, ${facts} facts: kept ${percent(kept)} in the ${where}`);
  for (const each of lost.slice(0, 5)) console.log(`  lost after compaction ${each}`);
  if (values.write) {
    const file = join(docs, 'survival-hosts.json');
    const others = hostOutcomes().filter((each) => each.host !== name);
    const all = [...others, outcome].toSorted((one, other) => one.host.localeCompare(other.host));
    writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
    write(JSON.parse(readFileSync(join(docs, 'survival.json'), 'utf8')));
  }
  console.log(JSON.stringify({ host: name, where, compactions, facts, kept }));
  if (kept < 1) process.exitCode = 1;
}

function hostOutcomes(): HostOutcome[] {
  const file = join(docs, 'survival-hosts.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

interface Pair {
  mechanism: MechanismName;
  summariser: SummariserName;
}

async function measured({ mechanism, summariser }: Pair, plugin: string): Promise<Outcome> {
  const started = performance.now();
  const made =
    mechanism === 'stepfast'
      ? createStepfast(plugin)
      : mechanism === 'seed-002'
        ? createSeed002()
        : withoutAny;
  const outcome = await play(
    {
      compactions,
      mechanism: made,
      fills: mechanism === 'stepfast' && summariser === 'forgets' && compactions >= leastWritten,
      summarise: (facts) => createSummariser(summariser, facts, seed),
    },
    (played) => outcomeOf({ mechanism, summariser }, played),
  );
  const seconds = Math.round((performance.now() - started) / 1000);
  const { kept, keptAtTheEnd, facts, stale, lost } = outcome;
  console.log(
    `${mechanism.padEnd(9)} ${summariser.padEnd(9)} ${outcome.compactions} compactions, ${facts} facts: kept ${percent(kept)}, at the end ${percent(keptAtTheEnd)}, ${stale} stale; ${seconds} s`,
  );
  if (outcome.filled) console.log(`  ${JSON.stringify(outcome.filled)}`);
  for (const each of lost.slice(0, 5)) console.log(`  lost after compaction ${each}`);
  return outcome;
}

async function inTurn<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results = new Map<number, Out>();
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results.set(next[0], await work(next[1]));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return [...results].toSorted(([one], [other]) => one - other).map(([, result]) => result);
}

function write(outcomes: readonly Outcome[]): void {
  writeFileSync(join(docs, 'survival.svg'), plot(outcomes));
  writeFileSync(join(docs, 'survival-hosts.svg'), hostPlot(hostOutcomes()));
  writeFileSync(join(docs, 'survival.md'), page(outcomes, hostOutcomes()));
}

function finish(outcomes: readonly Outcome[]): void {
  const of = (name: MechanismName): Outcome[] => outcomes.filter(({ mechanism }) => mechanism === name);
  const keptWith = (name: MechanismName): number | undefined =>
    of(name).length === 0 ? undefined : mean(of(name).map(({ kept }) => kept));
  const kept = keptWith('stepfast');
  const summarisers = Object.fromEntries(
    summariserNames.map((name) => [
      name,
      Object.fromEntries(
        outcomes
          .filter(({ summariser }) => summariser === name)
          .map((outcome) => [outcome.mechanism, outcome.kept]),
      ),
    ]),
  );
  console.log(
    JSON.stringify({
      compactions,
      facts: Math.min(...outcomes.map(({ facts }) => facts)),
      kept,
      keptWithout: keptWith('none'),
      keptSeed002: keptWith('seed-002'),
      summarisers,
    }),
  );
  if (kept !== undefined && kept < 1) process.exitCode = 1;
}
