import { createTestProject, type TestFiles, type TestProject } from '../../src/testing/index.ts';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import type { Sample } from './extract.ts';

/** Throws if the sample does not do here what its document says. */
export type Runner = (sample: Sample, seeds: Seeds) => void | Promise<void>;

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

/** Rows of one document: digest, description, and what is run. */
export const rowsOf = (document: string, samples: Record<string, [string, string, Row['check']]>): Row[] =>
  Object.entries(samples).map(([place, [digest, about, check]]) => ({
    id: `${document}/${place}`,
    digest,
    about,
    check,
  }));

/** The documents, and projects that are removed after the sample. */
export interface Seeds {
  /** Throws if there is no such sample. */
  sample(id: string): Sample;
  of(document: string): Sample[];
  project(files?: TestFiles): TestProject;
  hooks(files?: Record<string, string>): HookKit;
}

export function createSeeds(samples: readonly Sample[], stack: DisposableStack): Seeds {
  return {
    sample(id) {
      const found = samples.find((each) => each.id === id);
      if (!found) throw new Error(`There is no sample ${id}.`);
      return found;
    },
    of: (document) => samples.filter(({ id }) => id.startsWith(`${document}/`)),
    project: (files = {}) => stack.use(createTestProject(files)),
    hooks: (files = {}) => stack.use(createHookKit(files)),
  };
}
