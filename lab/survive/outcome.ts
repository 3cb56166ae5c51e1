/** The result of one run, from which the charts are drawn. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { isStale, type Kind, kinds, type StoryFact, stands } from './fact.ts';
import type { Compaction, Played } from './play.ts';
import type { Standing } from './standing.ts';

export interface Outcome {
  compactions: number;
  manual: number;
  auto: number;
  facts: number;
  /** Share of the facts over all compactions. */
  kept: number;
  keptAtTheEnd: number;
  /** The same with the echo of PreCompact, and without the summary. */
  keptWithEcho: number;
  keptWithoutSummary: number;
  /** How often an outdated text was in a request. */
  stale: number;
  byKind: Partial<Record<Kind, number>>;
  /** Share of the facts after each compaction. */
  series: string;
  /** The first losses, as compaction and fact. */
  lost: string[];
  /** Injections that the host truncated. */
  cut: number;
  /** `proven`: found in the conversation, the same to the letter. */
  briefings: { injected: number; proven: number; repaired: number; gaveUp: number };
  /** Characters and o200k tokens of the first, the last and the longest briefing. */
  characters: string;
  tokens: string;
}

/** `part`: of a request, in which a fact counts. */
export function outcomeOf({ compactions, log }: Played, part: 'counted' | 'briefing' = 'counted'): Outcome {
  const whole = part === 'briefing' ? part : 'whole';
  const has = ({ standing, handle }: Compaction, fact: StoryFact, text: keyof Standing): boolean => {
    const context = standing[text];
    const isCurrent = stands(fact, context) && !isStale(fact, standing[whole]);
    return isCurrent && (fact.kind !== 'next action' || context.includes(handle));
  };
  const share = (text: keyof Standing, kind?: Kind, some = compactions): number => {
    const all = some.flatMap((each) =>
      each.facts
        .filter((fact) => kind === undefined || fact.kind === kind)
        .map((fact) => has(each, fact, text)),
    );
    // Never rounds up to 1.
    return Math.floor((all.filter(Boolean).length / all.length) * 1e4) / 1e4;
  };
  const count = (what: string, cause?: string): number =>
    log.filter((entry) => entry.what === what && (cause === undefined || entry.why === cause)).length;
  const briefings = compactions.map(({ standing }) => standing.briefing);
  const range = (lengthOf: (text: string) => number): string => {
    const all = briefings.map(lengthOf);
    return [all[0], all.at(-1), Math.max(...all)].join(' ');
  };
  const lost = compactions.flatMap((each) =>
    each.facts.filter((fact) => !has(each, fact, part)).map(({ id }) => `${each.index} ${id}`),
  );
  return {
    compactions: compactions.length,
    manual: Math.ceil(compactions.length / 2),
    auto: Math.floor(compactions.length / 2),
    facts: Math.min(...compactions.map(({ facts }) => facts.length)),
    kept: share(part),
    keptAtTheEnd: share(part, undefined, compactions.slice(-1)),
    keptWithEcho: share('whole'),
    keptWithoutSummary: share('injected'),
    stale: compactions.flatMap(({ facts, standing }) => facts.filter((fact) => isStale(fact, standing.whole)))
      .length,
    byKind: Object.fromEntries(kinds.map((kind) => [kind, share(part, kind)])),
    series: compactions.map((each) => share(part, undefined, [each])).join(' '),
    lost: lost.slice(0, 20),
    cut: compactions.filter(({ standing }) => standing.injected.includes('<persisted-output>')).length,
    briefings: {
      injected: count('injected', 'compact'),
      proven: count('proven'),
      repaired: count('repaired'),
      gaveUp: count('gave_up'),
    },
    characters: range((text) => text.length),
    tokens: range((text) => encode(text).length),
  };
}

/** A share below 100% never rounds up to 100%. */
export const percent = (share: number): string =>
  share === 1 ? '100 %' : `${Math.min(99.9, Math.round(share * 1000) / 10).toFixed(1)} %`;
