import type { Receipt } from '../machine/index.ts';
import { redVerb } from './gate-results.ts';

/** To the agent of a session that a program drives: the first prompt. */
export const drivenBriefingText = (briefing: string): string =>
  `${briefing}\n\nYou work unattended: no person reads your messages. To ask one, call workflow_note with kind question and end your turn. When the position is done, call workflow_advance; a position with checks is also checked when your turn ends. The work continues from there.`;

/** The driver clears or compacts. */
export const drivenResetText = (at: string): string =>
  `End your turn. ${at} is continued in a fresh context by itself.`;

/** To the agent that reviews the work of another session. */
export const drivenReviewText = (briefing: string, at: string): string =>
  `${briefing}\n\nYou are the reviewer of ${at}, and did none of this work. Look at the files and the evidence. Change nothing. Then call workflow_advance with at ${at}, a verdict, and your reasons as output.`;

interface Continuation {
  instructions: string;
  next: string;
  feedback?: string | undefined;
  answers: readonly { question: string; answer: string }[];
  failure?: string | undefined;
}

/** To an agent whose turn has ended, with more to do in the same context. */
export const drivenContinueText = ({
  instructions,
  next,
  feedback,
  answers,
  failure,
}: Continuation): string =>
  [
    ...answers.map(({ question, answer }) => `Your question: ${question}\nThe answer: ${answer}`),
    ...(feedback === undefined ? [] : [feedback]),
    ...(failure === undefined ? [] : [`This failed before: ${failure}`]),
    ...(instructions === '' ? [] : [instructions]),
    next,
  ].join('\n\n');

/** To an agent whose turn has ended while gates of its position fail. */
export const drivenRedText = ({
  gates,
  next,
}: {
  gates: readonly {
    what: string;
    exit?: number | undefined;
    expect?: 'fail' | undefined;
    lines: readonly string[];
  }[];
  next: string;
}): string =>
  [
    'The checks of this step do not pass. Fix the cause, then end your turn: they run again by themselves.',
    ...gates.flatMap(({ what, exit, expect, lines }) => [
      `${what}: ${exit === undefined ? redVerb({ expect }) : `exit ${exit}`}`,
      ...lines.map((line) => `> ${line}`),
    ]),
    next,
  ].join('\n');

/** Why a driver hands a position to a person. */
export const noProgressText = 'four turns in two sessions changed nothing';
export const boundReachedText = (bound: 'turns' | 'hours', limit: number): string =>
  `${limit} ${bound} were used, the limit of a workflow without a budget`;
export const leftoversHeldText = (why: keyof typeof heldReasons, files: readonly string[]): string =>
  files.length === 0 ? heldReasons[why] : `${heldReasons[why]}: ${listedFiles(files)}`;

/** Some of them, and how many more there are. */
export const listedFiles = (files: readonly string[]): string =>
  `${files.slice(0, 5).join(', ')}${files.length > 5 ? ` and ${files.length - 5} more` : ''}`;

const heldReasons = {
  branch: 'the worktree is not on its branch',
  rebase: 'a rebase is under way',
  secret: 'uncommitted files seem to hold a secret',
  large: 'uncommitted files are larger than 5 MB',
  many: 'more than 200 new files are uncommitted',
  conflict: 'files have conflicts that were not resolved',
  submodule: 'a submodule has changes that are committed nowhere else',
};

/** Why a task was not merged, for a list. */
export function mergeFailedText({
  why,
  files = [],
  receipts,
  reason,
}: {
  why: 'conflict' | 'red';
  files?: readonly string[];
  receipts: readonly Pick<Receipt, 'what' | 'pass' | 'exit'>[];
  reason: string;
}): string {
  if (why === 'conflict') return files.length === 0 ? reason : `conflict in ${listedFiles(files)}`;
  const red = receipts.find(({ pass }) => !pass);
  if (!red) return reason;
  return `${red.what}${red.exit === undefined ? '' : ` exit ${red.exit}`} on the merged tree`;
}

/** Why the work of a task could not be merged, for the agent that it goes back to. */
export const conflictText = (branch: string, files: readonly string[]): string =>
  `It could not be merged: ${listedFiles(files)} changed here and on ${branch}. The merge is under way in this worktree: resolve the conflict markers and keep what both sides need.`;
export const redMergeText = (branch: string, what: string): string =>
  `It was merged with ${branch}, and then '${what}' failed, although it passes without this task. ${branch} is merged into this worktree: make both work together.`;
export const unmergeableText = (why: string): string => `It could not be merged: ${why}.`;
/** Why nothing can be merged, for the person. */
export const holdReasonText = {
  base_red: (branch: string, what: string): string =>
    `'${what}' fails on ${branch} itself, without any task. Fix it there with a commit; the queue goes on by itself.`,
  dirty: (branch: string, files: readonly string[]): string =>
    `${branch} is checked out with uncommitted changes in ${listedFiles(files)}, which a merge would overwrite. Commit them; the queue goes on by itself.`,
  rewound: (branch: string): string =>
    `${branch} no longer has the commits that were merged into it. Put them back, or accept that with: stepfast merge --accept`,
  unstable: (files: readonly string[]): string =>
    `the gates change files that they do not declare under 'writes': ${listedFiles(files)}`,
  setup: (problem: string): string => `the worktree of the queue could not be set up: ${problem}`,
};

export const unreportedBudgetText = (host: string, unit: string): string =>
  `The workflow limits ${unit}, which '${host}' does not report. Remove that limit, or use another host.`;
