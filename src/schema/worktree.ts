import * as z from 'zod';
import { line } from './texts.ts';

export const worktree = z
  .strictObject({
    setup: line
      .describe(
        'A shell command that runs in each new worktree, after `copy`, and again when files of `inputs` change.',
      )
      .exactOptional(),
    copy: z
      .array(line)
      .min(1)
      .max(100)
      .describe('Paths or globs of files that git ignores: copied from the main worktree into each new one.')
      .exactOptional(),
    inputs: z
      .array(line)
      .min(1)
      .max(100)
      .describe(
        'Paths or globs of files whose change makes `setup` run again in a worktree (default: lock files of package managers).',
      )
      .exactOptional(),
  })
  .describe(
    'How each worktree that Stepfast creates is prepared: for the tasks of a parallel loop, and for a run of `stepfast run`.',
  );
