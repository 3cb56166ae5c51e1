import * as z from 'zod';
import { id, line, text } from './texts.ts';

const triggerPattern =
  /^(?:session_start|manual|phase_transition|phase_start:[A-Za-z0-9][\w-]{0,63}|phase_transition:[A-Za-z0-9][\w-]{0,63}->[A-Za-z0-9][\w-]{0,63})$/;

export const criticalArtifact = z
  .strictObject({
    id: id.describe('The name of the artifact, unique in the workflow.'),
    type: z
      .enum(['json', 'markdown', 'directory', 'work_plugin', 'skill', 'git_info'])
      .describe('What kind of thing it is.'),
    path: line
      .describe(
        'A path in the project; may hold {project_root}, {run_id}, {plan_id} and the other placeholders.',
      )
      .exactOptional(),
    path_from_state: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,15}$/)
      .describe('Where state.json holds the path, for instance artifacts.spec_path.')
      .exactOptional(),
    command: line
      .describe('A slash command that the agent is asked to run; never a shell command.')
      .exactOptional(),
    description: text.describe('What it is for; the id by default.').exactOptional(),
    required: z.boolean().describe('The run cannot go on without it; false by default.').exactOptional(),
    condition: line.describe('A CEL expression; the artifact counts only where it holds.').exactOptional(),
    on_error: z
      .enum(['wait', 'ignore'])
      .describe('If the condition of a required artifact cannot be decided: wait (default) or ignore it.')
      .exactOptional(),
    reload_triggers: z
      .array(z.string().regex(triggerPattern))
      .max(50)
      .describe(
        'When it is loaded again: session_start, phase_start:X, phase_transition, phase_transition:A->B, manual.',
      )
      .exactOptional(),
  })
  .describe('Something the agent must have in its context.');
