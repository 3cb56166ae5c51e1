/** Pictures of the results: share of facts kept over compactions. */
import { drawChart, type Line } from '../plot.ts';
import { type MechanismName, mechanismNames } from './mechanism.ts';
import { type Outcome, percent } from './outcome.ts';

export const summariserNames = ['forgets', 'measured', 'keeps'] as const;
export type SummariserName = (typeof summariserNames)[number];

export interface Result extends Outcome {
  mechanism: MechanismName;
  summariser: SummariserName;
}

export interface HostResult extends Outcome {
  host: string;
  /** Where the briefing is looked for. */
  where: string;
}

const titles: Record<SummariserName, [name: string, about: string]> = {
  forgets: ['Forgets everything', 'no fact is in the summary'],
  measured: ['Keeps as measured', 'most sentences, few paths, no commands'],
  keeps: ['Keeps everything', 'all that stood in the context'],
};
const looks: Record<MechanismName, Omit<Line, 'values'>> = {
  stepfast: { name: 'Stepfast', tone: 'action' },
  'seed-002': { name: 'state file and guidance text (seed 002)', tone: 'pivot' },
  none: { name: 'neither', tone: 'flow', dashed: true },
};

/** Nothing is lost before the first compaction. */
const valuesOf = ({ series }: { series: string }): number[] => [1, ...series.split(' ').map(Number)];
const ticksOf = (compactions: number): string[] =>
  [0, 0.5, 1].map((share) => String(Math.round(share * compactions)));
const format = (share: number): string =>
  Number.isInteger(share * 100) ? `${share * 100} %` : percent(share);

export function plot(outcomes: readonly Result[]): string {
  const [first] = outcomes;
  return drawChart({
    id: 'survival',
    title: 'What the model still gets to see after each compaction',
    about: `${first?.facts} facts, ${first?.compactions} compactions of the real Claude Code, ${first?.manual} by hand and ${first?.auto} automatic`,
    below: 'compactions',
    ends: true,
    format,
    panels: summariserNames.map((name) => ({
      title: titles[name][0],
      about: titles[name][1],
      most: 1,
      ticks: ticksOf(first?.compactions ?? 0),
      lines: mechanismNames.flatMap((mechanism) =>
        outcomes
          .filter((each) => each.mechanism === mechanism && each.summariser === name)
          .map((each) => ({ ...looks[mechanism], values: valuesOf(each) })),
      ),
    })),
  });
}

export const hostPlot = (outcomes: readonly HostResult[]): string =>
  drawChart({
    id: 'hosts',
    title: 'What the briefing brings back in each host',
    about: 'Share of facts after each compaction, with a summarizer that forgets everything',
    below: 'compactions',
    height: 120,
    format,
    panels: outcomes.map((outcome) => ({
      title: `${outcome.host}  ${percent(outcome.kept)}`,
      about: `in the ${outcome.where}`,
      most: 1,
      ticks: ticksOf(outcome.compactions),
      lines: [{ name: 'Stepfast', tone: 'action', values: valuesOf(outcome) }],
    })),
  });
