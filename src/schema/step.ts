import * as z from 'zod';
import { id, line, text } from './texts.ts';

const positive = z.int().min(1).max(1_000_000_000);

export const contextActions = z.enum(['compact', 'clear']);

export const context = contextActions.describe(
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
  schema: z
    .record(z.string(), z.unknown())
    .describe(
      'With `output: json`: the JSON Schema that the output must fit; a part of its keywords is known.',
    )
    .exactOptional(),
  idempotent: z
    .boolean()
    .describe('The command may be started again if it was interrupted; false by default: the run waits.')
    .exactOptional(),
};

/** Of `finally`. */
export const cleanupStep = z
  .strictObject({
    id: id.describe('The name of the command, unique in `finally`.'),
    run: line.describe('A shell command that the engine runs after the end of the run.'),
    timeout: command.timeout,
  })
  .describe('A command after the end of the run.');

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
    baseline: z
      .boolean()
      .describe('With `run`: also runs before the work begins; red there is no failure.')
      .exactOptional(),
  })
  .describe('One check: exactly one of run, exists, condition, read.');
const gates = z.array(gate).min(1).max(50);
const gateList = gates.describe('Checks that must pass before the position is left.');

const review = z
  .strictObject({
    by: agentName.describe('human, or the agent that reviews.'),
    independent: z
      .boolean()
      .describe(
        'The agent must prove to be another than the one that did the work; otherwise a person reviews.',
      )
      .exactOptional(),
    on_pivot: id.describe('The step to return to on a pivot.').exactOptional(),
  })
  .describe('Someone looks at the result before the run goes on.');

export const budget = z
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

const taskCount = z.int().min(0).max(5000);
const taskSource = z
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
  merge_gate: gates
    .describe('Checks of the merged tree before a task of a parallel loop counts as done.')
    .exactOptional(),
  tasks: taskSource.exactOptional(),
  parallel: z
    .int()
    .min(1)
    .max(64)
    .describe('How many agents may hold tasks of a loop step at once; 1 by default.')
    .exactOptional(),
});
export const authoredStep = step
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
export const authoredSubStep = subStep
  .extend({
    type: z
      .enum(['action', 'run'])
      .describe('action (default): work of an agent; run: a command of the engine.')
      .exactOptional(),
    after: after.exactOptional(),
  })
  .describe('A step done for each task of a loop.');

export type Step = z.infer<typeof step>;
export type SubStep = z.infer<typeof subStep>;
export type Gate = z.infer<typeof gate>;
export type Budget = z.infer<typeof budget>;
export type ContextAction = z.infer<typeof contextActions>;
