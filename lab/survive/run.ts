/**
 * Measures which facts of a run survive compactions of a real agent: `npm run survive [-- --compactions N]` in Claude
 * Code, with each mechanism and each summarizer; `--host NAME`: in another agent, with Stepfast and a summarizer that
 * forgets everything. `--write` stores the results in docs/survival*.json and draws them; `--draw` only draws.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { forgetsAll, keepsAll, keepsAtRates, type Summarise } from '../../src/testing/index.ts';
import { measuredRates } from '../../src/testing/model/summary.ts';
import { claudeHost } from '../../test/kit/claude-host.ts';
import { sessionHosts } from '../../test/kit/session-hosts.ts';
import { printTable } from '../figures.ts';
import { options } from '../options.ts';
import { inParallel } from '../parallel.ts';
import {
  type HostResult,
  hostPlot,
  plot,
  type Result,
  type SummariserName,
  summariserNames,
} from './drawing.ts';
import { kinds, ratesOf, type StoryFact } from './fact.ts';
import { type Mechanism, type MechanismName, mechanismNames, withoutAny } from './mechanism.ts';
import { outcomeOf, percent } from './outcome.ts';
import { play } from './play.ts';
import { createSeed002 } from './seed-002.ts';
import { createStepfast } from './stepfast.ts';

/** Each keeps only what stands in the request it gets and is still in force. */
const summarisers: Record<SummariserName, (facts: () => readonly StoryFact[]) => Summarise> = {
  forgets: forgetsAll,
  measured: (facts) => keepsAtRates(facts, { rates: ratesOf(measuredRates), seed: 1 }),
  keeps: keepsAll,
};
const mechanisms: Record<MechanismName, () => Mechanism> = {
  stepfast: () => createStepfast(claudeHost),
  'seed-002': createSeed002,
  none: () => withoutAny,
};
const {
  compactions,
  host: hostName,
  write,
  draw,
} = options({ compactions: 100, host: '', write: false, draw: false });
const docs = join(import.meta.dirname, '../../docs');
const stored = (name: string) => JSON.parse(readFileSync(join(docs, `${name}.json`), 'utf8'));

if (!draw) ensureBuilt();
if (!draw && hostName === '') await measure();
else if (!draw) await measureHost();
if (draw || write) {
  writeFileSync(join(docs, 'survival.svg'), plot(stored('survival')));
  writeFileSync(join(docs, 'survival-hosts.svg'), hostPlot(stored('survival-hosts')));
}

function store(name: string, results: object): void {
  if (write) writeFileSync(join(docs, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

async function measure(): Promise<void> {
  const pairs = mechanismNames.flatMap((mechanism) =>
    summariserNames.map((summariser) => ({ mechanism, summariser })),
  );
  const results = await inParallel(pairs.length, 2, async (number): Promise<Result> => {
    const { mechanism, summariser } = pairs[number] ?? { mechanism: 'none', summariser: 'keeps' };
    const summarise = summarisers[summariser];
    const played = await play({
      host: claudeHost,
      mechanism: mechanisms[mechanism](),
      compactions,
      summarise,
    });
    console.error(`played with ${mechanism} and a summarizer that ${summariser}`);
    return { mechanism, summariser, ...outcomeOf(played) };
  });
  printTable([
    ['mechanism', 'summarizer', 'kept', 'at the end', 'with echo', 'no summary', 'stale'],
    ...results.map((each) => [
      ...[each.mechanism, each.summariser, percent(each.kept), percent(each.keptAtTheEnd)],
      ...[percent(each.keptWithEcho), percent(each.keptWithoutSummary), each.stale],
    ]),
  ]);
  const measured = results.filter(({ summariser }) => summariser === 'measured');
  printTable([
    ['summarizer that measured', ...measured.map(({ mechanism }) => mechanism)],
    ...kinds.map((kind) => [kind, ...measured.map(({ byKind }) => percent(byKind[kind] ?? 0))]),
  ]);
  for (const { mechanism, briefings, cut, characters, tokens, lost } of results) {
    if (mechanism !== 'stepfast') continue;
    console.log(JSON.stringify({ briefings, cut, characters, tokens, lost }));
  }
  store('survival', results);
  const keptWith = (name: MechanismName): number => {
    const all = results.filter(({ mechanism }) => mechanism === name);
    return Math.floor((all.reduce((sum, { kept }) => sum + kept, 0) / all.length) * 1e4) / 1e4;
  };
  const kept = keptWith('stepfast');
  const facts = results[0]?.facts;
  console.log(
    JSON.stringify({
      compactions,
      facts,
      kept,
      keptWithout: keptWith('none'),
      keptSeed002: keptWith('seed-002'),
    }),
  );
  if (kept < 1) process.exitCode = 1;
}

async function measureHost(): Promise<void> {
  const host = sessionHosts.find(({ name }) => name === hostName);
  if (!host) throw new Error(`--host is one of: ${sessionHosts.map(({ name }) => name).join(', ')}`);
  const mechanism = createStepfast(host);
  const played = await play({ host, mechanism, compactions, summarise: summarisers.forgets });
  // Some hosts keep earlier words of users, so only the briefing counts.
  const outcome = outcomeOf(played, 'briefing');
  const { kept, facts, lost } = outcome;
  for (const each of lost.slice(0, 5)) console.log(`lost after compaction ${each}`);
  const result: HostResult = { host: hostName, where: host.afterCompaction, ...outcome };
  const others = (stored('survival-hosts') as HostResult[]).filter((each) => each.host !== hostName);
  store(
    'survival-hosts',
    [...others, result].toSorted((one, other) => one.host.localeCompare(other.host)),
  );
  console.log(JSON.stringify({ host: hostName, where: result.where, compactions, facts, kept }));
  if (kept < 1) process.exitCode = 1;
}
