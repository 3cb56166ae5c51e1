import { listed } from './lists.ts';
import {
  badArgument,
  badInput,
  badNote,
  badTasks,
  badVerdict,
  noRun,
  noTask,
  notesFull,
  personOnly,
  type Rendered,
  taskHeld,
} from './refusal-details.ts';
import type { RefusalText, Refused, Voice } from './refused.ts';

/** A refusal for one reader. Refusals from older journals have no parameters and are shown as stored. */
export function refusalText(refused: Refused, voice: Voice): RefusalText {
  const { code, at, instructions } = refused;
  const text = 'message' in refused ? (refused as unknown as RefusalText) : rendered(refused, voice);
  const runs =
    refused.code === 'several_runs'
      ? refused.params.runs.map(({ run, summary }) => (summary === undefined ? run : `${run}: ${summary}`))
      : undefined;
  return {
    code,
    message: text.message,
    next: text.next,
    ...(at === undefined ? {} : { at }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(runs ? { runs } : {}),
  };
}

function rendered(refused: Refused, voice: Voice): Rendered {
  const { action } = refused;
  const say = (message: string, correction?: string): Rendered => ({
    message,
    next: correction ?? voice.next(action ?? { do: 'ask_status' }),
  });
  const askPerson = (command: string): string => voice.askPerson(command);
  switch (refused.code) {
    case 'not_started':
      return say('The run has not started.', voice.start());
    case 'run_ended': {
      const { run, status } = refused.params;
      const rewind = status === 'cancelled' ? '' : ' A person can rewind this one.';
      return say(`${run} is ${status}.`, `${voice.start()}${rewind}`);
    }
    case 'bad_handle':
      return say(`'${refused.params.given}' is not a handle.`);
    case 'wrong_run':
      return say(`${refused.params.at} belongs to another run, not to ${refused.params.run}.`);
    case 'stale_handle': {
      const { at, was } = refused.params;
      if (was === undefined) return say(`${at} is not open.`);
      return say(`${at} was already ${was === 'advanced' ? 'completed' : 'reported as failed'}.`);
    }
    case 'at_required': {
      const { open, waiting, handles } = refused.params;
      const message = `${open} positions ${waiting ? 'are waiting' : 'are open'}: pass \`at\` to say which one.`;
      return say(
        message,
        handles.length > 0 ? `Pass one of ${handles.join(', ')}.` : 'Claim a task and use its handle.',
      );
    }
    case 'claim_required':
      return say(`You hold no task of '${refused.params.step}'.`);
    case 'not_briefed': {
      const { at, context } = refused.params;
      return context === undefined
        ? say(`The instructions of ${at} were not read yet.`, `Follow the instructions. ${voice.advance(at)}`)
        : say(`${at} starts with /${context}, and no agent has started it.`);
    }
    case 'boundary_open': {
      const { at, context } = refused.params;
      return say(
        `${at} starts with /${context}, which has not happened yet.`,
        voice.resetContext(at, context),
      );
    }
    case 'checking':
      return say(`The gates of ${refused.params.at} are running.`);
    case 'stale_gates':
      return say(
        'id' in refused.params
          ? `The gate run ${refused.params.id} is no longer needed.`
          : `${refused.params.run} is ${refused.params.status}.`,
        'Discard the result.',
      );
    case 'needs_tasks':
      return say(
        `'${refused.params.step}' is a loop, and its tasks are not set.`,
        voice.setTasks(refused.params.step),
      );
    case 'unknown_loop': {
      const { given, loops } = refused.params;
      return say(
        `There is no loop '${given}'.`,
        loops.length > 0 ? `Use ${loops.join(' or ')}.` : 'This workflow has no loop: advance instead.',
      );
    }
    case 'bad_tasks':
      return badTasks(refused.params, askPerson);
    case 'task_left_out': {
      const { tasks, more } = refused.params;
      const names = tasks.map(({ id, title }) => `'${id}' (${title})`);
      const rest = more > 0 ? ` and ${more} more` : '';
      return say(
        `The list leaves out unfinished tasks: ${names.join(', ')}${rest}.`,
        `Send the list again with them. ${askPerson(`stepfast tasks --drop ${tasks[0]?.id} --reason "..."`)}`,
      );
    }
    case 'no_task':
      return say(noTask(refused.params));
    case 'task_held':
      return taskHeld(refused.params, action && voice.next(action));
    case 'bad_output':
      return refused.params.why === 'not_text'
        ? say('The output must be text.', 'Describe what was done in a sentence or two.')
        : say(
            `The output has ${refused.params.bytes} bytes; the limit is ${refused.params.limit}.`,
            'Write it to a file and name the file as an artifact.',
          );
    case 'bad_input':
      return badInput(refused.params, voice);
    case 'bad_note':
      return badNote(refused.params);
    case 'notes_full':
      return notesFull(refused.params);
    case 'missing_artifact':
      return say(
        `Required artifacts are missing: ${refused.params.missing.join(', ')}.`,
        `Create them. ${voice.advance(refused.params.at)}`,
      );
    case 'not_adopted':
      return say(
        `${refused.params.run} was started from a workflow and cannot be adopted into.`,
        'Adopt into a new run.',
      );
    case 'unfinished': {
      const { source, phase, phases } = refused.params;
      return say(
        `${source} is at phase ${phase} of ${phases}.`,
        `Write the next phase into ${source} and continue. Advance when the last phase is done.`,
      );
    }
    case 'tree_changed':
      return refused.params.why === 'review'
        ? say(`Files changed since ${refused.params.at} was shown.`, 'Review them, then approve again.')
        : say(
            `${refused.params.at} is read-only, but files changed since it started.`,
            'Undo the changes, or make them in an earlier step.',
          );
    case 'person_only':
      return say(personOnly(refused.params), 'End your turn and wait for the user.');
    case 'engine_only':
      return say('Only Stepfast runs gates.', 'Advance the position: that starts its gates.');
    case 'own_work': {
      const { at, by } = refused.params;
      return say(
        `${at} is reviewed by the agent '${by}', not by the session that did the work.`,
        voice.handOver(at, by),
      );
    }
    case 'already_waiting':
      return say(`${refused.params.at} is already waiting.`);
    case 'not_waiting':
      return say('Nothing waits for a review here.');
    case 'bad_verdict':
      return badVerdict(refused.params);
    case 'amount_required': {
      const { unit, step } = refused.params;
      return say(`The ${unit} of '${step}' are used up.`, `Specify how many more ${unit} to allow.`);
    }
    case 'no_pivot': {
      const { from, to, steps } = refused.params;
      return say(
        to === undefined ? `'${from}' names no step to pivot to.` : `The run cannot pivot to '${to}'.`,
        `Name one of ${steps.join(', ')}.`,
      );
    }
    case 'no_question': {
      const { open } = refused.params;
      return open.length > 1
        ? say(`${open.length} questions are open.`, `Name one of ${open.join(', ')}.`)
        : say('No such question is open.', open.length === 0 ? undefined : `Name one of ${open.join(', ')}.`);
    }
    case 'no_boundary':
      return say('No context action is pending.');
    case 'unknown_step':
      return refused.params.why === 'rewind'
        ? say(
            `The run cannot go back to '${refused.params.given}'.`,
            `Name one of ${refused.params.steps.join(', ')}.`,
          )
        : say(
            `'${refused.params.workflow}' has no position '${refused.params.given}'.`,
            'Import the run with the workflow it was saved from.',
          );
    case 'unknown_session':
      return refused.params.session === undefined
        ? say('The session has no id.', 'Send the id that the host gives it.')
        : say(`The session ${refused.params.session} is not bound to this run.`, 'Call with a handle first.');
    case 'no_run':
      return noRun(refused.params, voice);
    case 'several_runs': {
      const { runs, total } = refused.params;
      return say(
        total === 1 ? 'The only active run belongs to another worktree.' : `${total} runs are active.`,
        voice.chooseRun(runs.map(({ run }) => run)),
      );
    }
    case 'untrusted': {
      const { workflow, name, commands } = refused.params;
      return say(
        `'${workflow}' runs commands that are not trusted on this machine: ${listed(commands, ', ', 1)}.`,
        askPerson(`stepfast trust ${name}`),
      );
    }
    case 'no_file':
      return say(
        `There is no file '${refused.params.path}' in this project.`,
        'Name a file of the project, or add a key for anything else.',
      );
    case 'source_complete':
      return say(
        `${refused.params.source} says that its workflow is complete.`,
        'Change the status in that file, or start a run.',
      );
    case 'run_live':
      return say(
        `${refused.params.run} is active in this worktree, so ${refused.params.source} was not adopted.`,
        refused.params.force
          ? 'Finish that run, or adopt anyway with: stepfast adopt --force'
          : 'Finish that run first.',
      );
    case 'bad_argument': {
      const { message, next } = badArgument(refused.params.problem);
      return say(`${refused.params.tool}: ${message}`, next);
    }
    case 'bad_config':
      return 'todoPath' in refused.params
        ? say(
            `todo_path '${refused.params.todoPath}' points outside the project, or into .git or .stepfast.`,
            'Name a file of the project.',
          )
        : say(refused.params.message, 'Fix the file.');
    case 'no_workflow':
      return say(refused.params.message, voice.workflows());
    case 'invalid_workflow':
      return say(refused.params.message, 'Fix it; stepfast validate shows every error.');
    case 'not_writable':
      return say(refused.params.message, 'Run Stepfast in a writable directory.');
    case 'no_worktree':
      return say(refused.params.message, 'Fix the problem, or work on the tasks with one agent.');
    case 'key_reused':
      return say(
        refused.params.message,
        'Use a new key for each call, and the same key only to repeat the same call.',
      );
    case 'busy':
      return say(refused.params.message, 'Send the same call again.');
    case 'store_failed':
    case 'server_unreachable':
      return say(refused.params.message, 'Send the same call again, with the same handle.');
    case 'server_failed':
      return say(
        refused.params.message,
        'Send the same call again, with the same handle. If it fails again, ask a person to check the server log.',
      );
    case 'store_forked':
      return say(refused.params.message, askPerson('stepfast repair'));
    case 'store_corrupt': {
      const { message, onServer, run } = refused.params;
      const repair = askPerson(`stepfast repair${run === undefined ? '' : ` ${run}`}`);
      return say(message, onServer ? 'The operator of the server restores it from a backup.' : repair);
    }
    case 'store_newer':
      return say(refused.params.message, 'Update Stepfast.');
    case 'state_too_large':
      return say(
        refused.params.message,
        'Ask a person to cancel it, then start another run for the remaining work.',
      );
    case 'server_refused':
    case 'other_server':
      return say(refused.params.message, askPerson('stepfast login'));
  }
}
