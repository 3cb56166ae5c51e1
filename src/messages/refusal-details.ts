import type { RefusalParams, TaskProblem } from '../machine/index.ts';
import { quoted } from './lists.ts';
import type { ArgumentProblem, RefusalText, RuntimeRefusalParams, Voice } from './refused.ts';

export type Rendered = Pick<RefusalText, 'message' | 'next'>;
type Params<C extends keyof RefusalParams> = RefusalParams[C];

export function badTasks(
  { step, problem }: Params<'bad_tasks'>,
  askPerson: (command: string) => string,
): Rendered {
  if (problem.is === 'loop_over')
    return { message: `The loop '${step}' is over.`, next: askPerson(`stepfast rewind ${step}`) };
  if (problem.is === 'nothing_left')
    return {
      message: `The list leaves no open task in '${step}', and a loop can only be skipped when the run is at it.`,
      next: `Set at least one task, or wait until the run is at '${step}'.`,
    };
  return { message: taskProblem(problem), next: `Send the whole list of '${step}' again.` };
}

function taskProblem(problem: Exclude<TaskProblem, { is: 'loop_over' } | { is: 'nothing_left' }>): string {
  switch (problem.is) {
    case 'all_ended':
      return 'Every task in the list has ended.';
    case 'too_many':
      return `${problem.count} tasks are too many: the limit is ${problem.limit}.`;
    case 'bad_id':
      return `'${problem.task}' cannot be a task id: use letters, digits, '-', '_' and '.'.`;
    case 'no_title':
      return `Task '${problem.task}' has no title.`;
    case 'duplicate':
      return `Two tasks have the id '${problem.task}'.`;
    case 'unknown_dependency':
      return `Task '${problem.task}' depends on '${problem.on}', which is not in the list.`;
    case 'lost_dependency':
      return `Task '${problem.task}' depends on '${problem.on}', which ${problem.end === 'failed' ? 'failed' : 'was skipped'}.`;
    case 'circle':
      return `The tasks depend on each other in a circle: ${problem.tasks.join(' → ')}.`;
  }
}

export function noTask(params: Params<'no_task'>): string {
  switch (params.why) {
    case 'not_claimable':
      return `'${params.step}' has no tasks to claim.`;
    case 'none_ready':
      return `No task of '${params.step}' is ready.`;
    case 'unknown':
      return `There is no task '${params.task}'.`;
    case 'ended':
      return `Task '${params.task}' is ${params.end}.`;
    case 'depends':
      return `Task '${params.task}' depends on ${params.on.join(', ')}.`;
  }
}

export function taskHeld(params: Params<'task_held'>, next: string | undefined): Rendered {
  switch (params.why) {
    case 'other_holder':
      return {
        message: 'An agent claims tasks for its own session only.',
        next: 'Claim with your own session as the holder.',
      };
    case 'held':
      return { message: `Task '${params.task}' is held.`, next: next ?? 'Wait until it is released.' };
    case 'all_taken':
      return {
        message: `${params.held} tasks of '${params.step}' are held; the limit is ${params.limit}.`,
        next: next ?? 'Wait until one of them is done.',
      };
  }
}

export function badInput(params: Params<'bad_input'>, voice: Voice): Rendered {
  const { workflow, name } = params;
  switch (params.why) {
    case 'unknown':
      return {
        message: `'${workflow}' has no input '${name}'.`,
        next:
          params.inputs.length > 0
            ? `Use one of ${params.inputs.join(', ')}.`
            : 'This workflow has no inputs.',
      };
    case 'missing':
      return { message: `'${workflow}' needs the input '${name}'.`, next: voice.start({ workflow, name }) };
    case 'type':
      return { message: `The input '${name}' must be a ${params.type}.`, next: `Send a ${params.type}.` };
  }
}

export function badNote(params: Params<'bad_note'>): Rendered {
  switch (params.why) {
    case 'empty':
      return params.what === 'question'
        ? { message: 'The question is empty.', next: 'Ask what you need to know.' }
        : { message: 'The note is empty.', next: 'Write down what must be remembered.' };
    case 'no_reason':
      return { message: 'The reason is empty.', next: `Give a reason for removing '${params.task}'.` };
    case 'too_long': {
      const what = params.what === 'todo' ? 'to-do list' : 'note';
      return {
        message: `The ${what} has ${params.length} characters; the limit is ${params.limit}.`,
        next: 'Shorten it.',
      };
    }
    case 'no_key':
      return { message: `A note of kind ${params.kind} needs a key.`, next: 'Send it again with a key.' };
    case 'bad_key':
      return {
        message: `'${params.key}' cannot be a key.`,
        next: "Use letters, digits, '-', '_' and '.', at most 64 characters.",
      };
  }
}

const kept = {
  artifacts: 'artifacts',
  named_artifacts: 'named artifacts',
  variables: 'variables',
  files_read: 'files read',
};

export function notesFull(params: Params<'notes_full'>): Rendered {
  if (params.why === 'count')
    return {
      message: `A run stores at most ${params.limit} ${kept[params.what]}.`,
      next: params.what === 'files_read' ? 'Continue: this one is not recorded.' : 'Use an existing one.',
    };
  return {
    message: `The notes are full: notes of this kind have at most ${params.limit} ${params.unit} together.`,
    next: `Replace one by its key: ${params.keys.join(', ')}.`,
  };
}

export function personOnly({ what, at, step }: Params<'person_only'>): string {
  const subject = {
    review: `The review of ${at} is`,
    budget: `The budget of '${step}' is`,
    blocked_loop: `What happens to '${step}' is`,
    remove_task: 'Removing a task is',
    answer: 'Answering a question is',
    pass_boundary: 'Skipping a context action is',
    rewind: 'Going back to a step is',
    cancel: 'Cancelling a run is',
  }[what];
  return `${subject} a person's decision.`;
}

export function badVerdict(params: Params<'bad_verdict'>): Rendered {
  switch (params.why) {
    case 'budget':
      return {
        message: 'A budget cannot be revised.',
        next: 'Approve with an amount, pivot, escalate or abandon.',
      };
    case 'no_task_done':
      return {
        message: `No task of '${params.step}' is done.`,
        next: 'Revise to run it again, pivot or abandon.',
      };
    case 'gates_not_passed':
      return { message: `${params.at} has not passed its gates.`, next: 'Revise to try again, or abandon.' };
  }
}

export function noRun(params: RuntimeRefusalParams['no_run'], voice: Voice): Rendered {
  if ('message' in params) return { message: params.message, next: voice.next({ do: 'ask_status' }) };
  switch (params.why) {
    case 'none_live':
      return { message: 'No run is active here.', next: voice.start() };
    case 'none_in_session':
      return { message: 'This session is not working on a run.', next: voice.startOrContinue() };
    case 'unknown':
      return {
        message: `No run of this project is named '${params.name}'.`,
        next: voice.next({ do: 'ask_status' }),
      };
    case 'unknown_handle':
      return {
        message: `No run of this project has the handle ${params.at}.`,
        next: voice.next({ do: 'ask_status' }),
      };
  }
}

export function badArgument(problem: ArgumentProblem): Rendered {
  switch (problem.is) {
    case 'type': {
      const { path, expected, got } = problem;
      return { message: `${path} must be ${expected}, not ${got}.`, next: `Send ${path} as ${expected}.` };
    }
    case 'value': {
      const { path, given, allowed, nearest } = problem;
      return {
        message: `${path} cannot be '${given}'.`,
        next: nearest === undefined ? `Use one of ${allowed.join(', ')}.` : `Use '${nearest}'.`,
      };
    }
    case 'unknown':
      return { message: `There is no '${problem.path}'.`, next: `Use '${problem.nearest}'.` };
    case 'missing': {
      const { path, description } = problem;
      return {
        message: `${path} is missing.`,
        next: `Add ${path}${description === undefined ? '' : ` (${description})`}.`,
      };
    }
    case 'blank_output':
      return {
        message: 'output is blank.',
        next: problem.failed ? 'Describe why it failed.' : 'Describe what was done.',
      };
    case 'verdict_and_failed':
      return { message: 'verdict and failed cannot be combined.', next: 'Send either verdict or failed.' };
    case 'verdict_without_at':
      return { message: 'A verdict needs at.', next: 'Add the handle of the position under review.' };
    case 'input_not_scalar':
      return {
        message: `inputs.${problem.name} must be a string, a number or true/false.`,
        next: 'Send each input as a single value.',
      };
    case 'unknown_artifact': {
      const { workflow, given, known } = problem;
      return {
        message: `'${workflow}' has no critical artifact '${given}'.`,
        next: known.length === 0 ? 'It declares none.' : `Name one of ${quoted(known)}.`,
      };
    }
  }
}
