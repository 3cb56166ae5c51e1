import * as z from 'zod';
import { criticalArtifact } from './critical-artifact.ts';
import {
  authoredStep,
  authoredSubStep,
  budget,
  cleanupStep,
  context,
  type Step,
  type SubStep,
} from './step.ts';
import { id, line, text } from './texts.ts';
import { worktree } from './worktree.ts';

export { idPattern } from './texts.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: a name is printed on one line of a terminal
const namePattern = /^[^\u0000-\u001f\u007f/\\]+$/;

const removalPattern = /^[A-Za-z0-9][\w-]{0,63}(?:\/[A-Za-z0-9][\w-]{0,63})?$/;

export const maxSteps = 200;
/** Room for the run, the next action, the instructions and all notes. */
const minBriefingTokens = 2500;

const scalar = z.union([z.string().max(10_000), z.number(), z.boolean()]);

export const boundaryPolicies = z.enum(['prefer', 'require', 'off']);
const notificationEvents = z.enum(['waiting', 'ended', 'budget']);

export const inputSchema = z
  .strictObject({
    type: z.enum(['string', 'number', 'boolean']).describe('string by default.').exactOptional(),
    description: text.describe('What the input is for.').exactOptional(),
    required: z.boolean().describe('The run does not start without it; false by default.').exactOptional(),
    default: scalar.describe('The value when none is given.').exactOptional(),
    enum: z
      .array(z.union([z.string().max(200), z.number(), z.boolean()]))
      .min(1)
      .max(100)
      .describe('The only values that are accepted.')
      .exactOptional(),
    pattern: z
      .string()
      .min(1)
      .max(200)
      .describe('A regular expression that a string must match as a whole.')
      .exactOptional(),
  })
  .describe('One input.');

/** A workflow file as it is written, after `extends`; rules that span several keys are in the `check-` files. */
export const workflowSchema = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(100)
      .regex(namePattern)
      .describe('The name that starts the workflow.')
      .exactOptional(),
    id: z.string().min(1).max(100).regex(namePattern).describe('Another spelling of name.').exactOptional(),
    description: text.describe('What the workflow is for.').exactOptional(),
    type: z
      .enum(['planning', 'qa-loop', 'implementation', 'custom'])
      .describe('The kind of work; custom by default.')
      .exactOptional(),
    extends: z
      .string()
      .min(1)
      .max(300)
      .describe('The workflow this one builds on: a name or a path.')
      .exactOptional(),
    remove: z
      .array(z.string().regex(removalPattern))
      .max(maxSteps)
      .describe('With `extends`: what to leave out: steps by id, sub-steps as loop/sub-step.')
      .exactOptional(),
    inputs: z
      .record(id, inputSchema)
      .describe('Values given at the start; read as {input.NAME} or STEPFAST_INPUT_NAME.')
      .exactOptional(),
    required_reading: z
      .array(line)
      .max(100)
      .describe('Files the agent must read, each written with a leading @.')
      .exactOptional(),
    key_reminders: z.array(line).max(100).describe('Sentences repeated in every briefing.').exactOptional(),
    variables: z
      .record(id, scalar)
      .describe('Context variables shown in every briefing; plan_id fills {plan_id}.')
      .exactOptional(),
    budget: budget.exactOptional(),
    briefing: z
      .strictObject({
        budget: z
          .int()
          .min(minBriefingTokens)
          .max(100_000)
          .describe('Estimated tokens for one briefing; what must always be told needs the least of them.')
          .exactOptional(),
      })
      .describe('How large a briefing may be.')
      .exactOptional(),
    critical_artifacts: z
      .strictObject({
        always_load: z.array(criticalArtifact).max(100).describe('Loaded in every case.').exactOptional(),
        conditional_load: z
          .array(criticalArtifact)
          .max(100)
          .describe('Loaded where their condition holds.')
          .exactOptional(),
      })
      .describe('What the agent must have in its context after every reset.')
      .exactOptional(),
    agents: z
      .record(
        id,
        z
          .strictObject({
            description: text.describe('What the agent is good for.'),
            model: line
              .describe("The model of a session that `stepfast run` opens, in the host's own words.")
              .exactOptional(),
            tools: z
              .array(line)
              .max(200)
              .describe(
                'The only tools it may use, besides those of Stepfast: Read, mcp__docs__*, Bash(git *).',
              )
              .exactOptional(),
            cannot: z.array(line).max(200).describe('Tools it may not use.').exactOptional(),
            permissions: line
              .describe(
                "The permission mode of a session that `stepfast run` opens, in the host's own words.",
              )
              .exactOptional(),
          })
          .describe('One agent.'),
      )
      .describe('Agents that steps may be handed to.')
      .exactOptional(),
    loops: z
      .record(id, z.array(authoredSubStep).min(1).max(maxSteps).describe('The sub-steps, in order.'))
      .describe('Sub-steps of the loop steps, by loop id.')
      .exactOptional(),
    phases: z
      .record(id, z.looseObject({}).describe('One phase: pre_steps, prompt or description, post_steps.'))
      .describe('The steps as FABER writes them: of each phase its pre_steps, the phase, its post_steps.')
      .exactOptional(),
    steps: z.array(authoredStep).max(maxSteps).describe('The main steps, in order.').exactOptional(),
    transitions: z
      .array(
        z
          .strictObject({
            from: id.describe('The step that was left.'),
            to: id.describe('The step that begins.'),
            context: context.exactOptional(),
          })
          .describe('One transition.'),
      )
      .max(1000)
      .describe('Context actions between two steps; a step or sub-step with its own context comes first.')
      .exactOptional(),
    boundaries: boundaryPolicies
      .describe(
        'How strictly context actions are held: prefer (default) goes on without, require waits, off ignores.',
      )
      .exactOptional(),
    worktree: worktree.exactOptional(),
    finally: z
      .array(cleanupStep)
      .min(1)
      .max(20)
      .describe('Commands that the engine runs after the end of the run, however it ended.')
      .exactOptional(),
    stop: z
      .enum(['allow', 'hold', 'check'])
      .describe(
        'check: when a turn ends, the gates of the position run. hold: an unfinished position holds the stop; allow by default.',
      )
      .exactOptional(),
    notify: z
      .array(notificationEvents)
      .max(20)
      .describe('Of which events the user is told; how is in the configuration of the user.')
      .exactOptional(),
    keep: z
      .boolean()
      .describe('false: the run is deleted when it is finished; true by default.')
      .exactOptional(),
    state_mirror: line
      .describe('A folder in the main worktree where the state of the run is written for other tools.')
      .exactOptional(),
    todo_path: line
      .describe('Where in the worktree the to-do list is; by default it is with the run.')
      .exactOptional(),
  })
  .describe('A Stepfast workflow.');

/** A workflow file after `extends`. */
export type Authored = z.infer<typeof workflowSchema>;
/** A resolved workflow as plain JSON, with the keys of the file; absent means default. */
export interface Definition
  extends Omit<
    Authored,
    'extends' | 'remove' | 'phases' | 'id' | 'name' | 'description' | 'loops' | 'steps'
  > {
  name: string;
  description: string;
  loops?: Record<string, SubStep[]>;
  steps: Step[];
}
export type Input = z.infer<typeof inputSchema>;
export type CriticalArtifact = z.infer<typeof criticalArtifact>;
export type BoundaryPolicy = z.infer<typeof boundaryPolicies>;
export type Scalar = z.infer<typeof scalar>;
export type NotificationEvent = z.infer<typeof notificationEvents>;
