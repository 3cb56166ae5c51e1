import * as z from 'zod';
import { criticalArtifact } from './critical-artifact.ts';
import { taskSource } from './task-source.ts';
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
const positive = z.int().min(1).max(1_000_000_000);

export const contextActions = z.enum(['compact', 'clear']);
export const boundaryPolicies = z.enum(['prefer', 'require', 'off']);

const context = contextActions.describe(
  'What happens to the conversation before this begins: compact keeps a summary, clear starts fresh.',
);
const title = z
  .string()
  .min(1)
  .max(100)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a title is printed on one line of a terminal
  .regex(/^[^\u0000-\u001f\u007f]+$/)
  .describe('What people read instead of the id; the id stays the address.');
const agentName = z.string().regex(/^[A-Za-z0-9][\w:.-]{0,127}$/);
const agentOf = agentName.describe(
  'The agent that this is handed to; without it the main agent does the work.',
);
const artefacts = z.boolean().describe('The agent reports the files it produced.');
const readOnly = z.boolean().describe('The agent may read files but not change them.');
const attempts = z
  .int()
  .min(1)
  .max(100)
  .describe('How many red gates and failures `on_fail: retry` allows before the run waits; 5 by default.');
const retry = z
  .int()
  .min(1)
  .max(100)
  .describe('How many red gates and failures there may be, counted together, before `then`.');
const then = <T extends string>(...words: [T, ...T[]]) =>
  z.enum(words).describe('What follows the last of them; wait by default.').exactOptional();

const timeout = z.int().min(1).max(86_400);
const command = {
  run: line
    .describe('A shell command that the engine runs; its standard output is the output of this step.')
    .exactOptional(),
  timeout: timeout.describe('Seconds until the command is stopped; 600 by default.').exactOptional(),
  output: z
    .enum(['json'])
    .describe('json: the output must be JSON; conditions and later tasks read its parts.')
    .exactOptional(),
  idempotent: z
    .boolean()
    .describe('The command may be started again if it was interrupted; false by default: the run waits.')
    .exactOptional(),
};

const when = line.describe('A CEL expression; where it does not hold, this is skipped.');

const after = id.describe('With `extends`: puts a new step after this one instead of at the end.');

const gate = z
  .strictObject({
    run: line.describe('A shell command that must exit with 0.').exactOptional(),
    expect: z
      .enum(['fail'])
      .describe('With `run`: the command must fail, for instance because a new test shows the bug.')
      .exactOptional(),
    contains: line.describe('With `run`: text that the output must contain.').exactOptional(),
    exists: line.describe('A path that must exist.').exactOptional(),
    condition: line.describe('A CEL expression that must hold.').exactOptional(),
    read: z
      .array(line)
      .min(1)
      .max(100)
      .describe('Files the agent must have read as they are now.')
      .exactOptional(),
    paths: z
      .array(line)
      .min(1)
      .max(100)
      .describe('What the receipt of `run` covers; the whole tree by default.')
      .exactOptional(),
    writes: z.array(line).min(1).max(100).describe('Files that `run` may write.').exactOptional(),
    timeout: timeout.describe('Seconds until `run` is stopped.').exactOptional(),
    rerun: z.boolean().describe('Runs once more when the run completes.').exactOptional(),
  })
  .describe('One check: exactly one of run, exists, condition, read.');
const gates = z.array(gate).min(1).max(50);
const gateList = gates.describe('Checks that must pass before the position is left.');

const review = z
  .strictObject({
    by: agentName.describe('human, or the agent that reviews.'),
    on_pivot: id.describe('The step to return to on a pivot.').exactOptional(),
  })
  .describe('Someone looks at the result before the run goes on.');

const budget = z
  .strictObject({
    turns: positive.describe('Turns of the agent.').exactOptional(),
    tokens: positive.describe('Tokens, where the host tells them.').exactOptional(),
    minutes: positive.describe('Minutes of active time.').exactOptional(),
    cost: z
      .number()
      .min(0.01)
      .max(1_000_000)
      .describe('US dollars, where the host tells them.')
      .exactOptional(),
    on_pivot: id.describe('The step to return to on a pivot.').exactOptional(),
  })
  .describe('When any of these runs out, the run waits for a budget review.');

/**
 * `n` and `until` belong to ralph, `loop` and `parallel` to loop. The loader fills in `loop`, and reads `type: run` as an
 * action with `run`.
 */
const step = z.strictObject({
  id: id.describe('The name of the step, unique in the workflow.'),
  title: title.exactOptional(),
  type: z.enum(['action', 'loop', 'ralph']),
  when: when.exactOptional(),
  ...command,
  agent: agentOf.exactOptional(),
  instructions: text.describe('What the agent is told to do; may hold placeholders.').exactOptional(),
  context: context.exactOptional(),
  artefacts: artefacts.exactOptional(),
  read_only: readOnly.exactOptional(),
  gate: gateList.exactOptional(),
  review: review.exactOptional(),
  budget: budget.exactOptional(),
  on_fail: z
    .union([z.enum(['retry', 'abort']), z.strictObject({ retry, then: then('abort', 'wait') })])
    .describe('What a failure does: retry or abort; or { retry: N, then: abort or wait }.')
    .exactOptional(),
  attempts: attempts.exactOptional(),
  n: z.int().min(1).max(1000).describe('How many iterations a ralph step has; 1 by default.').exactOptional(),
  until: gates.describe('A ralph step ends early when all of these hold.').exactOptional(),
  on_exhausted: z
    .enum(['complete', 'wait', 'fail'])
    .describe('What follows the last iteration if `until` does not hold; wait by default.')
    .exactOptional(),
  loop: id.describe('The loop that a loop step goes over; by default the one with its id.').exactOptional(),
  tasks: taskSource.exactOptional(),
  parallel: z
    .int()
    .min(1)
    .max(64)
    .describe('How many agents may hold tasks of a loop step at once; 1 by default.')
    .exactOptional(),
});
const authoredStep = step
  .extend({
    type: z
      .enum([...step.shape.type.options, 'run'])
      .describe(
        'action: done once; loop: its sub-steps for each task; ralph: the same instructions n times; run: a command of the engine.',
      ),
    after: after.exactOptional(),
  })
  .describe('A main step.');

const subStep = z.strictObject({
  id: id.describe('The name of the sub-step, unique in its loop.'),
  title: title.exactOptional(),
  when: when.exactOptional(),
  ...command,
  agent: agentOf.exactOptional(),
  instructions: text
    .describe('What the agent is told to do for one task; may hold placeholders.')
    .exactOptional(),
  context: context.exactOptional(),
  artefacts: artefacts.exactOptional(),
  read_only: readOnly.exactOptional(),
  gate: gateList.exactOptional(),
  on_fail: z
    .union([
      z.enum(['retry', 'skip', 'abort']),
      z.strictObject({ retry, then: then('skip', 'abort', 'wait') }),
    ])
    .describe(
      'What a failure does: retry, skip the task, or abort the run; or { retry: N, then: skip, abort or wait }.',
    )
    .exactOptional(),
  attempts: attempts.exactOptional(),
});
const authoredSubStep = subStep
  .extend({
    type: z
      .enum(['action', 'run'])
      .describe('action (default): work of an agent; run: a command of the engine.')
      .exactOptional(),
    after: after.exactOptional(),
  })
  .describe('A step done for each task of a loop.');

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
    worktree: worktree.exactOptional(),
    agents: z
      .record(
        id,
        z
          .strictObject({
            description: text.describe('What the agent is good for.'),
            model: line.describe("The model, in the host's own words. Not used yet.").exactOptional(),
            tools: z
              .array(line)
              .max(200)
              .describe(
                'The only tools it may use, besides those of Stepfast: Read, mcp__docs__*, Bash(git *).',
              )
              .exactOptional(),
            cannot: z.array(line).max(200).describe('Tools it may not use.').exactOptional(),
            permissions: line
              .describe("The permission mode, in the host's own words. Not used yet.")
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
    stop: z
      .enum(['allow', 'hold', 'check'])
      .describe(
        'check: when a turn ends, the gates of the position run. hold: an unfinished position holds the stop; allow by default.',
      )
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
export type Step = z.infer<typeof step>;
export type SubStep = z.infer<typeof subStep>;
export type Gate = z.infer<typeof gate>;
export type Budget = z.infer<typeof budget>;
export type Input = z.infer<typeof inputSchema>;
export type CriticalArtifact = z.infer<typeof criticalArtifact>;
export type ContextAction = z.infer<typeof contextActions>;
export type BoundaryPolicy = z.infer<typeof boundaryPolicies>;
export type Scalar = z.infer<typeof scalar>;
