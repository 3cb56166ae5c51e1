import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { type Hazard, type Plan, planOf } from './plan.ts';

interface Bug {
  /** Seeds with this hazard can show it. */
  shownBy: Hazard;
  file: string;
  from: string;
  to: string;
}

/** Bugs that a storm must find: a text of a source file, and what stands there instead. */
const bugs = {
  'no-check': {
    shownBy: 'semantic',
    file: 'driver/merge-queue.ts',
    from: 'await checkOnce(view, result.path, result.commit, task);',
    to: '{ receipts: [], gates: [], unstable: [] } as unknown as MergeCheck;',
  },
  'update-ref': {
    shownBy: 'personCommits',
    file: 'workspace/worktrees/merge-queue.ts',
    from: 'if (path === undefined) {\n    const args',
    to: 'if (true) {\n    const args',
  },
  'remove-changes': {
    shownBy: 'dirtyCheckout',
    file: 'workspace/worktrees/remove.ts',
    from: "place.kind === 'merge' ? [] : await changesIn(place.path)",
    to: '[]',
  },
  'no-second-merge': {
    shownBy: 'personCommits',
    file: 'driver/merge-queue.ts',
    from: "if (advanced === 'advanced')",
    to: "if (advanced === 'advanced' || 'moved' in advanced)",
  },
  'blame-task': {
    shownBy: 'redBase',
    file: 'driver/merge-queue.ts',
    from: 'if (redBefore !== undefined)',
    to: 'if (redBefore !== undefined && base === "")',
  },
} satisfies Record<string, Bug>;

export type Plant = keyof typeof bugs;

export const plants = Object.keys(bugs) as Plant[];

/** Throws if the source has changed and the bug cannot be planted. */
export function planting(plant: Plant): Plugin {
  const { file, from, to } = bugs[plant];
  const path = join(import.meta.dirname, '..', '..', 'src', file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(from)) throw new Error(`'${plant}' cannot be planted in ${file}`);
  return {
    name: 'planted',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, (args) =>
        args.path === path ? { contents: source.replace(from, to), loader: 'ts' } : undefined,
      );
    },
  };
}

const tasks = 16;

/** Short storms that can show the bug, from a seed on. */
export const stormsFor = (plant: Plant, first: number): Plan[] =>
  Array.from({ length: 100 }, (_, index) => planOf(first + index))
    .filter(({ hazards }) => hazards.includes(bugs[plant].shownBy))
    .map((plan) => ({
      ...plan,
      tasks: plan.tasks.slice(0, tasks),
      person: plan.person.map((each) => ({ ...each, after: each.after % (tasks - 4) })),
    }));
