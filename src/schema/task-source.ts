import * as z from 'zod';
import { line } from './texts.ts';

const taskCount = z.int().min(0).max(5000);
export const taskSource = z
  .strictObject({
    files: line.describe('A glob: one task for each file that git does not ignore.').exactOptional(),
    checklist: line.describe('A Markdown file: one task for each open item, `- [ ]`.').exactOptional(),
    json: line
      .describe('A JSON file: a list of titles, or of { title, id, description, depends_on }.')
      .exactOptional(),
    output: z
      .string()
      .regex(/^[A-Za-z0-9][\w-]{0,63}(?:\.[\w-]{1,64}){0,15}$/)
      .describe('A list in the output of an earlier step: STEP or STEP.PATH, with `output: json`.')
      .exactOptional(),
    min: taskCount.describe('The fewest tasks; 1 by default. With fewer the run waits.').exactOptional(),
    max: taskCount.describe('The most tasks. With more the run waits.').exactOptional(),
    locked: z.boolean().describe('The agent may not change the list.').exactOptional(),
  })
  .describe('Where the tasks of a loop come from; by default the agent sets them.');
