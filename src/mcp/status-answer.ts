import { redactQuickly, withoutSecrets } from '../context/index.ts';
import { estimateTokens, type Receipt, type Status } from '../machine/index.ts';
import { bounded, firstWithin, type StatusText } from '../messages/index.ts';
import type { AnsweredStatus } from '../runtime/index.ts';
import { failureExcerpt } from './failure-excerpt.ts';

/** Estimated tokens of an answer without its instructions: the estimate is well above the 300 o200k tokens aimed at. */
const maxTokens = 375;
/** The cost of keys, numbers and punctuation, and of each optional key. */
const skeleton = 88;
const furtherKey = 7;
const mostGates = 3;
const whereMore = 'in full: workflow_context, section status';

/** Optional keys may also be present and undefined. */
type Loose<T> = { [K in keyof T]: T extends Record<K, T[K]> ? T[K] : T[K] | undefined };

export interface StatusAnswer
  extends Omit<
    Loose<Status>,
    | 'action'
    | 'answers'
    | 'baseline'
    | 'checking'
    | 'dropped'
    | 'failed_gates'
    | 'feedback'
    | 'red_until'
    | 'subStepIndex'
    | 'totalSubSteps'
    | 'waiting'
  > {
  waiting?: { for: string; by: string; what: string } | undefined;
  next: string;
  replayed?: true | undefined;
  interrupted?: true | undefined;
  checking?: true | undefined;
  /** Seconds. */
  retry_after?: number | undefined;
  failed_gates?: FailedGate[] | undefined;
  /** What gates said before the work began, while none has failed since. */
  baseline?: { gate: string; pass: boolean }[] | undefined;
  /** Gates of `until` that did not hold after the previous iteration. */
  red_until?: FailedGate[] | undefined;
  /** The directory of the task's files. */
  worktree?: string | undefined;
  warning?: string | undefined;
  /** How full the caller's context is, in percent, where it is nearly full. */
  context_used?: number | undefined;
  /** The start resumed a run. */
  restored?: true | undefined;
  /** Critical artifacts that are due now. */
  artifacts?: string | undefined;
  /** Where to find what did not fit. */
  more?: string | undefined;
}

interface FailedGate {
  gate: string;
  exit?: number | undefined;
  /** With `baseline`: what it said before the work began. */
  before?: 'pass' | 'fail' | undefined;
  /** The part of its output that shows the failure. */
  tail?: string;
}

/** The status within the token budget: long texts are shortened, and `more` says where they are in full. */
export function statusAnswer(
  reply: StatusText<AnsweredStatus>,
  {
    worktree,
    warning,
    restored,
    artifacts,
  }: Pick<StatusAnswer, 'worktree' | 'warning' | 'restored' | 'artifacts'> = {},
): StatusAnswer {
  // Before anything is shortened: half a secret is not recognized.
  const shown = withoutSecrets(reply);
  const { run, status, at, step, stepType, phase, task, subStep, ralphIteration, agent, delegate } = shown;
  const { progress, contextAction, message, next } = shown;
  const { reason, waiting, checking, replayed, interrupted, last_failure, unstable_files } = shown;
  const further = [reason, waiting, waiting, checking, checking, replayed, interrupted, last_failure];
  const keys = [...further, unstable_files, worktree, warning, restored].filter(
    (value) => value !== undefined,
  ).length;
  const tokens = createTokenBudget(maxTokens - skeleton - keys * furtherKey);
  const known = [at, run, step, phase.name, task?.id, subStep, agent ?? undefined, message, next, worktree];
  for (const text of known) tokens.spend(text);
  // An agent that must wait for a person gets no instructions.
  const instructions = waiting?.by === 'human' ? undefined : instructionsIn(shown);
  return {
    at,
    run,
    status,
    reason: reason && tokens.first(reason, 40),
    step,
    stepType,
    phase,
    task: task && { ...task, title: tokens.short(task.title, 30) },
    subStep,
    ralphIteration,
    agent,
    delegate,
    progress,
    worktree,
    warning: warning && tokens.first(redactQuickly(warning), 60),
    restored,
    instructions,
    artifacts,
    contextAction,
    message,
    waiting: waiting && { for: waiting.for, by: waiting.by, what: tokens.first(waiting.what, 60) },
    checking: checking && true,
    retry_after: checking && 5,
    replayed,
    interrupted,
    failed_gates: shown.failed_gates && failedGates(shown.failed_gates, tokens),
    baseline: shown.failed_gates ? undefined : shown.baseline && baselineIn(shown.baseline, tokens),
    red_until: shown.red_until && failedGates(shown.red_until, tokens),
    last_failure: last_failure && tokens.first(last_failure, 60),
    unstable_files: unstable_files && tokens.items(unstable_files),
    held: shown.held && tokens.items(shown.held),
    ready: shown.ready && tokens.items(shown.ready),
    next,
    more: tokens.cut() ? (shown.failed_gates ? `the output ${whereMore}` : whereMore) : undefined,
  };
}

/** The instructions with the reviewer's feedback and the answers to questions. */
function instructionsIn({
  instructions,
  feedback,
  answers = [],
}: StatusText<AnsweredStatus>): string | undefined {
  if (instructions === undefined) return undefined;
  const answered = answers.map(({ question, answer }) => `Question: ${question}\nAnswer: ${answer}`);
  return bounded([...(feedback === undefined ? [] : [feedback]), instructions, ...answered].join('\n\n'));
}

function failedGates(receipts: readonly Receipt[], tokens: TokenBudget): FailedGate[] {
  const shown = receipts.slice(0, mostGates);
  if (shown.length < receipts.length) tokens.leaveOut();
  const heads = shown.map(({ what, exit, before }) => ({
    gate: tokens.first(what, 20),
    exit,
    before,
  }));
  // The rest of the budget is shared equally by the outputs.
  return heads.map((head, index) => {
    const tail = tokens.excerpt(shown[index]?.tail ?? '', 1 / (heads.length - index));
    return tail === '' ? head : { ...head, tail };
  });
}

function baselineIn(baseline: NonNullable<Status['baseline']>, tokens: TokenBudget) {
  if (baseline.length > mostGates) tokens.leaveOut();
  return baseline.slice(0, mostGates).map(({ what, pass }) => ({ gate: tokens.first(what, 20), pass }));
}

interface TokenBudget {
  spend(text: string | undefined): void;
  first(text: string, most: number): string;
  /** Like `first`, but not reported as cut. */
  short(text: string, most: number): string;
  /** The part of an output that shows the failure, within a share of the rest. */
  excerpt(text: string, share: number): string;
  items<T>(items: readonly T[]): T[];
  leaveOut(): void;
  cut(): boolean;
}

function createTokenBudget(total: number): TokenBudget {
  let left = total;
  let cut = false;
  const pay = (text: string): string => {
    left -= estimateTokens(JSON.stringify(text));
    return text;
  };
  const short = (text: string, most: number): string =>
    pay(firstWithin(text, Math.max(3, Math.min(most, left))));
  return {
    spend(text) {
      if (text !== undefined) pay(text);
    },
    first(text, most) {
      const kept = short(text, most);
      cut ||= kept !== text;
      return kept;
    },
    short,
    excerpt(text, share) {
      // Reserves tokens for the key and for `more`.
      const kept = failureExcerpt(text, Math.floor(Math.max(0, (left - 15) * share)));
      cut ||= kept !== text.trimEnd();
      return pay(kept);
    },
    items(items) {
      const kept: (typeof items)[number][] = [];
      for (const item of items) {
        const cost = estimateTokens(JSON.stringify(item));
        if (cost > left - 10) {
          cut = true;
          break;
        }
        left -= cost;
        kept.push(item);
      }
      return kept;
    },
    leaveOut() {
      cut = true;
    },
    cut: () => cut,
  };
}
