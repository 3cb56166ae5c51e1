import { commandName } from '../command-name.ts';
import { type CorrectableError, corrections, splitNext } from './error-corrections.ts';
import { grantChangesText, grantText } from './grants.ts';
import { listed } from './lists.ts';
import type { ArgumentProblem, Renderers, RuntimeRefusalParams, Words } from './refused.ts';
import type { Voice } from './voice.ts';

/** Errors that become refusals; all others stay errors. */
export const isCorrectable = (code: string): boolean =>
  Object.hasOwn(corrections, code) ||
  ['no_run', 'bad_config', 'store_corrupt', 'not_published'].includes(code);

export function errorWords(code: CorrectableError, message: string, voice: Voice): Words {
  const correction = corrections[code];
  const [said, own] = splitNext(message);
  return [said, own ?? (typeof correction === 'string' ? correction : correction(voice))];
}

export const runtimeRefusals: Renderers<
  RuntimeRefusalParams,
  Exclude<keyof RuntimeRefusalParams, CorrectableError>
> = {
  no_run: (params, voice) => {
    if ('message' in params) return [params.message];
    if ('name' in params) return [`No run of this project is named '${params.name}'.`];
    if ('at' in params) return [`No run of this project has the handle ${params.at}.`];
    if (params.why === 'none_in_session')
      return ['This session is not working on a run.', voice.startOrContinue()];
    const others = params.why === 'none_live' ? '' : ` Runs of the team: ${commandName()} runs --all`;
    return [`No run is active here.${others}`, voice.start()];
  },
  several_runs: ({ runs, total }, voice) => [
    total === 1 ? 'The only active run belongs to another worktree.' : `${total} runs are active.`,
    voice.chooseRun(runs.map(({ run }) => run)),
  ],
  untrusted: ({ workflow, name, grants, changes }, voice) => [
    changes
      ? `'${workflow}' has changed since it was trusted on this machine: ${grantChangesText(changes, 1)}.`
      : `'${workflow}' needs to be trusted on this machine for: ${listed(grants.map(grantText), ', ', 1)}.`,
    voice.askPerson(`${commandName()} trust ${name}`),
  ],
  not_published: ({ message }, voice) => {
    // The server names it.
    const [, name = '<workflow>'] = /'([^']+)'/.exec(message) ?? [];
    return [
      `'${name}' has not been published in this project in this version.`,
      voice.askPerson(`${commandName()} publish ${name}`),
    ];
  },
  no_file: ({ path }) => [
    `There is no file '${path}' in this project.`,
    'Name a file of the project, or add a key for anything else.',
  ],
  source_complete: ({ source }) => [
    `${source} says that its workflow is complete.`,
    'Change the status in that file, or start a run.',
  ],
  run_live: ({ run, source, force }) => [
    `${run} is active in this worktree, so ${source} was not adopted.`,
    force
      ? `Finish that run, or adopt anyway with: ${commandName()} adopt --force`
      : 'Finish that run first.',
  ],
  bad_argument: ({ tool, problem }) => {
    const [message, next] = argumentWords(problem);
    return [`${tool}: ${message}`, next];
  },
  bad_config: (params) =>
    'todoPath' in params
      ? [
          `todo_path '${params.todoPath}' points outside the project, or into .git or .stepfast.`,
          'Name a file of the project.',
        ]
      : [params.message, 'Fix the file.'],
  store_corrupt: ({ message, onServer, run }, voice) => [
    message,
    onServer
      ? 'The operator of the server restores it from a backup.'
      : voice.askPerson(`${commandName()} repair${run === undefined ? '' : ` ${run}`}`),
  ],
};

function argumentWords(problem: ArgumentProblem): Words {
  switch (problem.is) {
    case 'type': {
      const { path, expected, got } = problem;
      return [`${path} must be ${expected}, not ${got}.`, `Send ${path} as ${expected}.`];
    }
    case 'value': {
      const { path, given, allowed, nearest } = problem;
      const use = nearest === undefined ? `one of ${allowed.join(', ')}` : `'${nearest}'`;
      return [`${path} cannot be '${given}'.`, `Use ${use}.`];
    }
    case 'unknown':
      return [`There is no '${problem.path}'.`, `Use '${problem.nearest}'.`];
    case 'missing': {
      const { path, description } = problem;
      return [`${path} is missing.`, `Add ${path}${description === undefined ? '' : ` (${description})`}.`];
    }
    case 'blank_reason':
      return ['output is blank.', 'Describe why it failed.'];
    case 'verdict_and_failed':
      return ['verdict and failed cannot be combined.', 'Send either verdict or failed.'];
    case 'verdict_without_at':
      return ['A verdict needs at.', 'Add the handle of the position under review.'];
    case 'input_not_scalar':
      return [
        `inputs.${problem.name} must be a string, a number or true/false.`,
        'Send each input as a single value.',
      ];
    case 'unknown_artifact': {
      const { workflow, given, known } = problem;
      return [
        `'${workflow}' has no critical artifact '${given}'.`,
        known.length === 0 ? 'It declares none.' : `Name one of ${known.join(', ')}.`,
      ];
    }
  }
}
