import * as z from 'zod';
import { line } from './texts.ts';

export const worktree = z
  .strictObject({
    setup: line
      .describe('A shell command that runs once in each new worktree, after `copy`.')
      .exactOptional(),
    copy: z
      .array(line)
      .min(1)
      .max(100)
      .describe('Paths or globs of files that git ignores: copied from the main worktree into each new one.')
      .exactOptional(),
  })
  .describe('How each worktree that Stepfast creates is prepared: one for each task of a parallel loop.');
