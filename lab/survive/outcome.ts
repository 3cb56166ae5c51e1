/** The result of one run; the page and the chart are generated from it alone. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { median } from '../figures.ts';
import { type Kind, kinds } from './fact.ts';
import type { MechanismName } from './mechanism.ts';
import type { Compaction, Filled, Played } from './play.ts';
import type { SummariserName } from './summarisers.ts';

export interface Outcome {
  mechanism: MechanismName;
  summariser: SummariserName;
  compactions: number;
  manual: number;
  auto: number;
  facts: number;
  /** Share of facts over all compactions; with the echo of PreCompact; without the summary. */
  kept: number;
  keptWithEcho: number;
  keptWithoutSummary: number;
  keptAtTheEnd: number;
  /** How often an outdated text was in a request. */
  stale: number;
  byKind: Partial<Record<Kind, number>>;
  /** Share of facts after each compaction. */
  series: string;
  /** Half of all compactions took no longer, from `/compact` or the full request to the first request after it. */
  manualMs: number;
  autoMs: number;
  /** The first losses, as compaction and fact. */
  lost: string[];
  /** Injections that the host truncated. */
  cut: number;
  briefings?: Briefings;
  filled?: Filled;
}

export interface Briefings {
  injected: number;
  /** Found in the conversation, the same to the letter. */
  proven: number;
  repaired: number;
  gaveUp: number;
  characters: string;
  /** Of o200k. */
  tokens: string;
}

const mostLosses = 20;

export function outcomeOf(
  names: Pick<Outcome, 'mechanism' | 'summariser'>,
  { compactions, filled, project }: Played,
): Outcome {
  const share = (kept: (each: Compaction) => number): number =>
    rounded(sum(compactions.map(kept)) / sum(compactions.map(({ facts }) => facts.length)));
  const ofTrigger = (trigger: Compaction['trigger']) =>
    compactions.filter((each) => each.trigger === trigger);
  const half = (trigger: Compaction['trigger']): number =>
    Math.round(median(ofTrigger(trigger).map(({ ms }) => ms)));
  const lost = compactions.flatMap(({ index, facts, kept }) =>
    facts.flatMap(({ id }) => (kept.has(id) ? [] : [`${index} ${id}`])),
  );
  const series = compactions.map(({ kept, facts }) => rounded(kept.size / facts.length));
  return {
    ...names,
    compactions: compactions.length,
    manual: ofTrigger('manual').length,
    auto: ofTrigger('auto').length,
    facts: Math.min(...compactions.map(({ facts }) => facts.length)),
    kept: share(({ kept }) => kept.size),
    keptWithEcho: share(({ keptWhole }) => keptWhole.size),
    keptWithoutSummary: share(({ keptInjected }) => keptInjected.size),
    keptAtTheEnd: series.at(-1) ?? 0,
    stale: sum(compactions.map(({ stale }) => stale.size)),
    byKind: Object.fromEntries(kinds.map((kind) => [kind, shareOf(kind, compactions)])),
    series: series.join(' '),
    manualMs: half('manual'),
    autoMs: half('auto'),
    lost: names.mechanism === 'stepfast' ? lost.slice(0, mostLosses) : [],
    cut: compactions.filter(({ standing }) => standing.cut).length,
    ...(names.mechanism === 'stepfast' ? { briefings: briefingsOf(compactions, project) } : {}),
    ...(filled ? { filled } : {}),
  };
}

function shareOf(kind: Kind, compactions: readonly Compaction[]): number {
  const all = compactions.flatMap(({ facts, kept }) =>
    facts.filter((fact) => fact.kind === kind).map(({ id }) => kept.has(id)),
  );
  return rounded(all.filter(Boolean).length / all.length);
}

function briefingsOf(compactions: readonly Compaction[], project: string): Briefings {
  const logged = hookLog(project);
  const count = (what: string): number => logged.filter((entry) => entry.what === what).length;
  const texts = compactions.map(({ standing }) => standing.briefing ?? '');
  return {
    injected: logged.filter(({ what, why }) => what === 'injected' && why === 'compact').length,
    proven: count('proven'),
    repaired: count('repaired'),
    gaveUp: count('gave_up'),
    characters: texts.map((text) => text.length).join(' '),
    tokens: texts.map((text) => encode(text).length).join(' '),
  };
}

/** The hook log. */
function hookLog(project: string): { what: string; why?: string }[] {
  return ['log.1.jsonl', 'log.jsonl']
    .map((name) => join(project, '.stepfast', 'sessions', 'hooks', name))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line));
}

export const numbers = (text: string): number[] => text.split(' ').map(Number);

export const mean = (values: readonly number[]): number => rounded(sum(values) / values.length);

/** A share below 100% never rounds up to 100%. */
export const percent = (share: number): string =>
  share === 1 ? '100 %' : `${Math.min(99.9, Math.round(share * 1000) / 10).toFixed(1)} %`;

/** Never rounds up to 1. */
const rounded = (value: number): number => Math.floor(value * 1e4) / 1e4;

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
