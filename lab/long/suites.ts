/** Every suite at its full size. A suite with several parts can be resumed between them. */
import { globSync, readFileSync } from 'node:fs';

export interface Part {
  /** `{state}` stands for a file in which the part keeps what it has done. */
  args: readonly string[];
  /** Measures ratios of times, which other load on the machine distorts. */
  tries?: number;
  /** Uses new random values each time. */
  random?: boolean;
  /** Runs on another Node version. */
  node?: number;
  /** Busy loops that run beside it. */
  load?: number;
}

const vitest = 'node_modules/vitest/vitest.mjs';

const tests = (projects: readonly string[], more: readonly string[] = []): string[] => [
  vitest,
  'run',
  ...projects.flatMap((name) => ['--project', name]),
  ...more,
];

/** An experiment at its default size, or with these arguments. */
const lab = (line: string): string[] => {
  const [name, ...args] = line.split(' ');
  return [`lab/${name}/run.ts`, ...args];
};

const shards = (count: number, part: (shard: string) => Part): Part[] =>
  Array.from({ length: count }, (_, n) => part(`${n + 1}/${count}`));

const propertyTests = globSync('{src,test}/**/*.test.ts').filter((file) =>
  readFileSync(file, 'utf8').includes('fc.assert('),
);

const loaded = 8;

export const suites: Record<string, readonly Part[]> = {
  'tests-node22': [{ args: tests(['unit', 'process']), node: 22 }],
  'tests-node26': [{ args: tests(['unit', 'process']), node: 26 }],
  'property-tests': [{ args: [vitest, 'run', ...propertyTests], random: true }],
  'agent-codex': [{ args: tests(['agents'], ['test/e2e/codex/']) }],
  'agent-copilot': [{ args: tests(['agents'], ['test/e2e/copilot/']) }],
  'agent-gemini': [{ args: tests(['agents'], ['test/e2e/gemini/']) }],
  'agent-opencode': [{ args: tests(['agents'], ['test/e2e/opencode/']) }],
  'e2e-loaded': [
    ...shards(4, (shard) => ({ args: tests(['server', 'e2e'], ['--shard', shard]), load: loaded })),
    { args: tests(['agents'], ['smoke.test.ts']), load: loaded },
  ],
  properties: [{ args: lab('properties'), random: true }],
  fuzz: [{ args: lab('fuzz definition'), random: true }],
  sim: [{ args: lab('sim'), random: true }],
  'sim-plants': [{ args: lab('sim --plant all') }],
  kill: [{ args: lab('kill'), random: true }],
  'driver-kill': shards(2, () => ({ args: lab('driver-kill'), random: true })),
  'merge-storm': [{ args: lab('merge-storm'), random: true }],
  'merge-storm-plants': [{ args: lab('merge-storm --plant all') }],
  planted: [{ args: lab('planted --state {state}') }],
  mutation: [{ args: lab('mutation'), random: true }],
  image: [{ args: lab('image') }],
  conformance: [{ args: lab('conformance') }],
  'bench-mcp': [{ args: lab('bench mcp'), tries: 3 }],
  'bench-hook': [{ args: lab('bench hook'), tries: 3 }],
  'bench-tokens': [{ args: lab('bench tokens') }],
  'bench-context': [{ args: lab('bench context --runs 500'), tries: 3 }],
  'bench-window': [{ args: lab('bench window') }],
  'bench-tree': [{ args: lab('bench tree'), tries: 3 }],
  'bench-server': [{ args: lab('bench server --small'), tries: 3 }],
  'bench-claims': [{ args: lab('bench claims --rounds 3'), tries: 3 }],
  dashboard: [{ args: lab('dashboard --small'), tries: 3 }],
  fleet: [{ args: lab('fleet --agents 500 --minutes 5 --every 20') }],
  faults: [{ args: lab('faults --workflows 300 --tasks 300') }],
  attack: [{ args: lab('attack') }],
  stubborn: shards(2, () => ({ args: lab('stubborn --sessions 20'), random: true })),
  survive: [{ args: lab('survive --compactions 6') }],
  seeds: [{ args: lab('seeds') }],
};
