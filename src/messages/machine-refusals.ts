import { commandName } from '../command-name.ts';
import type { RefusalCode, RefusalParams, TaskProblem } from '../machine/index.ts';
import { unitText, usedUpSentence } from './budget.ts';
import { drivenResetText } from './driver.ts';
import { listed } from './lists.ts';
import type { Renderers } from './refused.ts';

const oneOf = (names: readonly string[]): string => `Name one of ${names.join(', ')}.`;

/** What is wrong, and how to correct the call; without a correction the refusal's action comes next. */
export const machineRefusals: Renderers<RefusalParams, RefusalCode> = {
  not_started: (_, voice) => ['The run has not started.', voice.start()],
  run_ended: ({ run, status }, voice) => [
    `${run} is ${status}.`,
    `${voice.start()}${status === 'cancelled' ? '' : ' A person can rewind this one.'}`,
  ],
  bad_handle: ({ given }) => [`'${given}' is not a handle.`],
  wrong_run: ({ at, run }) => [`${at} belongs to another run, not to ${run}.`],
  stale_handle: ({ at, was }) => [`${at} ${was === undefined ? 'is not open' : `was already ${past[was]}`}.`],
  at_required: ({ open, waiting, handles }) => [
    `${open} positions ${waiting ? 'are waiting' : 'are open'}: pass \`at\` to say which one.`,
    handles.length > 0 ? `Pass one of ${handles.join(', ')}.` : 'Claim a task and use its handle.',
  ],
  claim_required: ({ step }) => [`You hold no task of '${step}'.`],
  not_briefed: ({ at, context }, voice) =>
    context === undefined
      ? [`The instructions of ${at} were not read yet.`, `Follow the instructions. ${voice.advance(at)}`]
      : [`${at} starts with /${context}, and no agent has started it.`],
  boundary_open: ({ at, context, driven }, voice) => [
    `${at} starts with /${context}, which has not happened yet.`,
    driven ? drivenResetText(at) : voice.resetContext(at, context),
  ],
  checking: ({ at }) => [`The gates of ${at} are running.`],
  stale_gates: (gates) => [
    'id' in gates ? `The gate run ${gates.id} is no longer needed.` : `${gates.run} is ${gates.status}.`,
    'Discard the result.',
  ],
  needs_tasks: ({ step }, voice) => [`'${step}' is a loop, and its tasks are not set.`, voice.setTasks(step)],
  unknown_loop: ({ given, loops }) => [
    `There is no loop '${given}'.`,
    loops.length > 0 ? `Use ${loops.join(' or ')}.` : 'This workflow has no loop: advance instead.',
  ],
  bad_tasks: ({ step, problem }, voice) => {
    if (problem.is === 'loop_over')
      return [`The loop '${step}' is over.`, voice.askPerson(`${commandName()} rewind ${step}`)];
    if (problem.is === 'locked')
      return [
        `The tasks of '${step}' come from the workflow and cannot be changed by an agent.`,
        'Work on them as they are, or ask the user.',
      ];
    if (problem.is !== 'nothing_left')
      return [taskProblem(problem), `Send the whole list of '${step}' again.`];
    return [
      `The list leaves no open task in '${step}', and a loop can only be skipped when the run is at it.`,
      `Set at least one task, or wait until the run is at '${step}'.`,
    ];
  },
  task_left_out: ({ tasks, more }, voice) => [
    `The list leaves out unfinished tasks: ${tasks.map(({ id, title }) => `'${id}' (${title})`).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
    `Send the list again with them. ${voice.askPerson(`${commandName()} tasks --drop ${tasks[0]?.id} --reason "..."`)}`,
  ],
  no_task: (task) => [noTask(task)],
  task_held: (task) => {
    if (task.why === 'held') return [`Task '${task.task}' is held.`];
    if (task.why === 'all_taken')
      return [`${task.held} tasks of '${task.step}' are held; the limit is ${task.limit}.`];
    return ['An agent claims tasks for its own session only.', 'Claim with your own session as the holder.'];
  },
  bad_output: (output) => {
    if (output.why === 'not_text')
      return ['The output must be text.', 'Describe what was done in a sentence or two.'];
    if (output.why === 'format')
      return [
        `The output does not have the form that this step asks for: ${output.problem}.`,
        'Advance again with JSON alone as the output.',
      ];
    return [
      `The output has ${output.bytes} bytes; the limit is ${output.limit}.`,
      'Write it to a file and name the file as an artifact.',
    ];
  },
  bad_input: (input, voice) => {
    const { workflow, name } = input;
    if (input.why === 'missing')
      return [`'${workflow}' needs the input '${name}'.`, voice.start({ workflow, name })];
    if (input.why === 'type')
      return [`The input '${name}' must be a ${input.type}.`, `Send a ${input.type}.`];
    if (input.why === 'not_allowed') {
      const [only, ...others] = input.allowed;
      const allowed = listed(input.allowed.map(String), ', ', 20);
      return others.length === 0
        ? [`The input '${name}' must be ${only}.`, `Send ${only}.`]
        : [`The input '${name}' must be one of ${allowed}.`, 'Send one of them.'];
    }
    if (input.why === 'pattern')
      return [`The input '${name}' must match ${input.pattern} as a whole.`, `Send a value of that form.`];
    if (input.why === 'too_long')
      return [`The input '${name}' has more than ${input.limit} characters.`, 'Shorten it.'];
    return [
      `'${workflow}' has no input '${name}'.`,
      input.inputs.length > 0 ? `Use one of ${input.inputs.join(', ')}.` : 'This workflow has no inputs.',
    ];
  },
  bad_note: (note) => {
    switch (note.why) {
      case 'empty':
        return note.what === 'question'
          ? ['The question is empty.', 'Ask what you need to know.']
          : ['The note is empty.', 'Write down what must be remembered.'];
      case 'no_reason':
        return ['The reason is empty.', `Give a reason for removing '${note.task}'.`];
      case 'too_long':
        return [
          `The ${note.what === 'todo' ? 'to-do list' : 'note'} has ${note.length} characters; the limit is ${note.limit}.`,
          'Shorten it.',
        ];
      case 'no_key':
        return [`A note of kind ${note.kind} needs a key.`, 'Send it again with a key.'];
      case 'bad_key':
        return [
          `'${note.key}' cannot be a key.`,
          "Use letters, digits, '-', '_' and '.', at most 64 characters.",
        ];
    }
  },
  notes_full: (full) =>
    full.why === 'count'
      ? [
          `A run stores at most ${full.limit} ${full.what.replace('_', ' ')}.`,
          full.what === 'files_read' ? 'Continue: this one is not recorded.' : 'Use an existing one.',
        ]
      : [
          `The notes are full: notes of this kind have at most ${full.limit} ${full.unit} together.`,
          `Replace one by its key: ${full.keys.join(', ')}.`,
        ],
  missing_artifact: ({ at, missing }, voice) => [
    `Required artifacts are missing: ${missing.join(', ')}.`,
    `Create them. ${voice.advance(at)}`,
  ],
  not_adopted: ({ run }) => [
    `${run} was started from a workflow and cannot be adopted into.`,
    'Adopt into a new run.',
  ],
  unfinished: ({ source, phase, phases }) => [
    `${source} is at phase ${phase} of ${phases}.`,
    `Write the next phase into ${source} and continue. Advance when the last phase is done.`,
  ],
  tree_changed: ({ at, why }) =>
    why === 'review'
      ? [`Files changed since ${at} was shown.`, 'Review them, then approve again.']
      : [
          `${at} is read-only, but files changed since it started.`,
          'Undo the changes, or make them in an earlier step.',
        ],
  person_only: ({ what, at, step }) => [
    `${personsDecision[what](at ?? `'${step}'`)} is a person's decision.`,
    'End your turn and wait for the user.',
  ],
  engine_only: () => ['Only Stepfast runs gates.', 'Advance the position: that starts its gates.'],
  own_work: ({ at, by }, voice) => [
    `${at} is reviewed by the agent '${by}', not by the session that did the work.`,
    voice.handOver(at, by),
  ],
  not_yours: ({ what, owner }) =>
    what === 'session'
      ? [`This session belongs to '${owner}'.`, 'Use a session of your own.']
      : [`'${owner}' holds this task.`, 'Claim another one.'],
  already_waiting: ({ at }) => [`${at} is already waiting.`],
  not_waiting: () => ['Nothing waits for a review here.'],
  bad_verdict: (verdict) => {
    if (verdict.why === 'budget')
      return ['A budget cannot be revised.', 'Approve with an amount, pivot, escalate or abandon.'];
    return verdict.why === 'no_task_done'
      ? [`No task of '${verdict.step}' is done.`, 'Revise to run it again, pivot or abandon.']
      : [`${verdict.at} has not passed its gates.`, 'Revise to try again, or abandon.'];
  },
  amount_required: (used) => [usedUpSentence(used), `Specify how many more ${unitText(used.unit)} to allow.`],
  no_budget: ({ step, units }) => [
    `Neither '${step}' nor the workflow limits ${units.map(unitText).join(' or ') || 'anything'}.`,
  ],
  no_pivot: ({ from, to, steps }) => [
    to === undefined ? `'${from}' names no step to pivot to.` : `The run cannot pivot to '${to}'.`,
    oneOf(steps),
  ],
  no_question: ({ open }) => [
    open.length > 1 ? `${open.length} questions are open.` : 'No such question is open.',
    open.length === 0 ? undefined : oneOf(open),
  ],
  no_boundary: () => ['No context action is pending.'],
  unknown_step: (step) =>
    step.why === 'rewind'
      ? [`The run cannot go back to '${step.given}'.`, oneOf(step.steps)]
      : [
          `'${step.workflow}' has no position '${step.given}'.`,
          'Import the run with the workflow it was saved from.',
        ],
  unknown_session: ({ session }) =>
    session === undefined
      ? ['The session has no id.', 'Send the id that the host gives it.']
      : [`The session ${session} is not bound to this run.`, 'Call with a handle first.'],
  driver_held: ({ pid, machine }) => [
    `Another program drives this run: process ${pid} on ${machine}.`,
    'Stop it first, or wait until it has ended.',
  ],
  stale_driver: () => ['Another program has taken over this run.', 'Stop: it continues from here.'],
  no_merge: ({ task }) => [
    `Task '${task}' is not in the merge queue, or not in this state.`,
    'See the tasks.',
  ],
};

const past = { advanced: 'completed', failed: 'reported as failed' };

const personsDecision: Record<RefusalParams['person_only']['what'], (subject: string) => string> = {
  review: (at) => `The review of ${at}`,
  independent_review: (at) => `Unless another agent proves who it is, the review of ${at}`,
  abandon: () => 'Abandoning a run',
  budget: (step) => `The budget of ${step}`,
  blocked_loop: (step) => `What happens to ${step}`,
  remove_task: () => 'Removing a task',
  answer: () => 'Answering a question',
  pass_boundary: () => 'Skipping a context action',
  rewind: () => 'Going back to a step',
  cancel: () => 'Cancelling a run',
  pause: () => 'Pausing a run',
  retry_merge: () => 'Trying a parked task again',
};

function taskProblem(
  problem: Exclude<TaskProblem, { is: 'loop_over' } | { is: 'nothing_left' } | { is: 'locked' }>,
): string {
  if (problem.is === 'all_ended') return 'Every task in the list has ended.';
  if (problem.is === 'too_few')
    return `${problem.count} tasks are too few: the workflow asks for at least ${problem.limit}.`;
  if (problem.is === 'too_many') return `${problem.count} tasks are too many: the limit is ${problem.limit}.`;
  if (problem.is === 'too_many_dependencies')
    return `${problem.count} dependencies between tasks are too many: the limit is ${problem.limit}.`;
  if (problem.is === 'bad_id')
    return `'${problem.task}' cannot be a task id: use letters, digits, '-', '_' and '.'.`;
  if (problem.is === 'no_title') return `Task '${problem.task}' has no title.`;
  if (problem.is === 'duplicate') return `Two tasks have the id '${problem.task}'.`;
  if (problem.is === 'unknown_dependency')
    return `Task '${problem.task}' depends on '${problem.on}', which is not in the list.`;
  if (problem.is === 'lost_dependency')
    return `Task '${problem.task}' depends on '${problem.on}', which ${problem.end === 'failed' ? 'failed' : 'was skipped'}.`;
  return `The tasks depend on each other in a circle: ${problem.tasks.join(' → ')}.`;
}

function noTask(params: RefusalParams['no_task']): string {
  if (params.why === 'not_claimable') return `'${params.step}' has no tasks to claim.`;
  if (params.why === 'none_ready') return `No task of '${params.step}' is ready.`;
  if (params.why === 'unknown') return `There is no task '${params.task}'.`;
  if (params.why === 'ended') return `Task '${params.task}' is ${params.end}.`;
  return `Task '${params.task}' depends on ${params.on.join(', ')}.`;
}
