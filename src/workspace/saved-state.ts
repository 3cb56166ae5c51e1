import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatesOf } from '../definition/index.ts';
import type { Definition, WorkflowState } from '../machine/index.ts';
import { savedStateSchema } from '../schema/index.ts';
import { digestOf } from '../store/index.ts';
import { containedFile } from './contained-file.ts';

/** Lanes keeps the state of a worktree's workflow in this file. */
export const savedStateFile = 'workflow-state.json';

/** A workflow that was under way in Lanes. */
export interface SavedState {
  state: WorkflowState;
  /** It is not found again. */
  taken(): void;
}

const maxBytes = 16 * 1024 * 1024;

/**
 * The unfinished state that Lanes left in a worktree, if it belongs to the workflow and was not taken before. A file
 * that an agent can write must not stand for gates and reviews, so a workflow with any is not continued from it.
 */
export function findSavedState(
  definition: Definition,
  { worktree, memory }: { worktree: string; memory: string },
): SavedState | undefined {
  if (isChecked(definition)) return undefined;
  const text = readSaved(worktree);
  const state = text === undefined ? undefined : parseSavedState(text);
  if (text === undefined || state?.status !== 'running' || !belongsTo(definition, state)) return undefined;
  const known = join(memory, `${digestOf(Buffer.from(`${worktree}\0${text}`)).slice(7)}.txt`);
  if (statSync(known, { throwIfNoEntry: false })) return undefined;
  return {
    state,
    taken() {
      mkdirSync(memory, { recursive: true });
      writeFileSync(known, `${worktree}\n`);
    },
  };
}

/** Undefined for a text that is no saved state. Keys that Stepfast does not know are dropped. */
export function parseSavedState(text: string): WorkflowState | undefined {
  try {
    return savedStateSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A step with a gate or a review, which a saved state would leave out. */
export const isChecked = ({ steps, loops = {} }: Definition): boolean =>
  [...steps, ...Object.values(loops).flat()].some(
    (step) => gatesOf(step).length > 0 || ('review' in step && step.review !== undefined),
  );

const belongsTo = ({ steps }: Definition, { step, stepType }: WorkflowState): boolean =>
  steps.some(({ id, type }) => id === step && type === stepType);

function readSaved(worktree: string): string | undefined {
  try {
    const file = containedFile(worktree, savedStateFile);
    const stats = file === undefined ? undefined : statSync(file);
    return file !== undefined && stats?.isFile() && stats.size <= maxBytes
      ? readFileSync(file, 'utf8')
      : undefined;
  } catch {
    return undefined;
  }
}
