import assert from 'node:assert/strict';
import { createTestProject, type TestFiles, type TestProject } from '../../src/testing/index.ts';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import type { Sample } from './samples.ts';

/** Throws if the sample does not do here what its document says. */
export type Runner = (sample: Sample, seeds: Seeds) => unknown;

export interface Check {
  /** What is run, for the table. */
  does: string;
  run: Runner;
}

/** One sample. The description is in our words: nothing of a document is in this project. */
export interface Row {
  id: string;
  digest: string;
  about: string;
  /** Or the reason why it cannot be run. */
  check: Check | { excuse: string };
}

export const check = (does: string, run: Runner): Check => ({ does, run });
export const excused = (excuse: string) => ({ excuse });

/** A file or command that stands for other samples: `000/block`, 1, 2. */
export const standsFor = (name: RegExp, place: string, ...numbers: number[]): Check =>
  check(`stands for ${place}-${numbers.join(', ')}: they are run`, async ({ text }, seeds) => {
    assert.match(text, name);
    for (const number of numbers) await seeds.run(`${place}-${number}`);
  });

/** Rows of one document: digest, description, and what is run. */
export const rowsOf = (document: string, samples: Record<string, [string, string, Row['check']]>): Row[] =>
  Object.entries(samples).map(([place, [digest, about, each]]) => ({
    id: `${document}/${place}`,
    digest,
    about,
    check: each,
  }));

/** The documents, and projects that are removed after the sample. */
export interface Seeds {
  /** Throws if there is no such sample. */
  text(id: string): string;
  of(document: string): Sample[];
  /** Runs another sample. */
  run(id: string): Promise<void>;
  project(files?: TestFiles): TestProject;
  hooks(files?: Record<string, string>): HookKit;
}

export function createSeeds(samples: readonly Sample[], rows: readonly Row[], stack: DisposableStack): Seeds {
  const find = <Each extends { id: string }>(all: readonly Each[], id: string): Each =>
    all.find((each) => each.id === id) ?? assert.fail(`There is no sample ${id}.`);
  const seeds: Seeds = {
    text: (id) => find(samples, id).text,
    of: (document) => samples.filter(({ id }) => id.startsWith(`${document}/`)),
    async run(id) {
      const { check: other } = find(rows, id);
      assert.ok('run' in other, `${id} is excused`);
      await other.run(find(samples, id), seeds);
    },
    project: (files = {}) => stack.use(createTestProject(files)),
    hooks: (files = {}) => stack.use(createHookKit(files)),
  };
  return seeds;
}
