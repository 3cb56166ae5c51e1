import { redactQuickly, withoutSecrets } from '../context/index.ts';
import { estimateTokens, type Receipt, type Status } from '../machine/index.ts';
import { bounded, firstWithin, type StatusText } from '../messages/index.ts';
import type { AnsweredStatus } from '../runtime/index.ts';
import { tellingLines } from './failure-excerpt.ts';

/** Estimated tokens that an answer may have beside its instructions: 300 of o200k, which the estimate is well above. */
const budget = 375;
/** What the keys, numbers and punctuation of an answer cost, and what each further key does. */
const skeleton = 88;
const furtherKey = 7;
const mostGates = 3;
const whereMore = 'in full: workflow_context, section status';

export interface StatusAnswer
  extends Omit<
    Status,
    | 'action'
    | 'answers'
    | 'checking'
    | 'dropped'
    | 'failed_gates'
    | 'feedback'
    | 'subStepIndex'
    | 'totalSubSteps'
    | 'waiting'
  > {
  waiting?: { for: string; by: string; what: string };
  next: string;
  replayed?: true;
  interrupted?: true;
  checking?: true;
  /** Seconds. */
  retry_after?: number;
  failed_gates?: FailedGate[];
  /** Where the files of the task are. */
  worktree?: string;
  warning?: string;
  /** The start went on with a run. */
  restored?: true;
  /** Critical artifacts that are due now. */
  artifacts?: string;
  /** Where to find what did not fit. */
  more?: string;
}

interface FailedGate {
  gate: string;
  exit?: number;
  /** What its output says of the failure. */
  tail?: string;
}

/** Where the run stands, within the budget: what is long gives way, and the answer says where it is whole. */
export function statusAnswer(
  reply: StatusText<AnsweredStatus>,
  {
    worktree,
    warning,
    restored,
    artifacts,
  }: Pick<StatusAnswer, 'worktree' | 'warning' | 'restored' | 'artifacts'> = {},
): StatusAnswer {
  // Before anything is cut: half a secret would not be known as one.
  const told = withoutSecrets(reply);
  const { run, status, at, step, stepType, phase, task, subStep, ralphIteration, agent, delegate } = told;
  const { progress, contextAction, message, next } = told;
  const { reason, waiting, checking, replayed, interrupted, last_failure, unstable_files } = told;
  const further = [reason, waiting, waiting, checking, checking, replayed, interrupted, last_failure];
  const keys = [...further, unstable_files, worktree, warning, restored].filter(
    (value) => value !== undefined,
  ).length;
  const purse = createPurse(budget - skeleton - keys * furtherKey);
  const known = [at, run, step, phase.name, task?.id, subStep, agent ?? undefined, message, next, worktree];
  for (const text of known) purse.spend(text);
  // Whoever is to wait for a person is not told to work.
  const instructions = waiting?.by === 'human' ? undefined : instructionsIn(told);
  return {
    ...(at === undefined ? {} : { at }),
    run,
    status,
    ...(reason === undefined ? {} : { reason: purse.first(reason, 40) }),
    step,
    stepType,
    phase,
    ...(task ? { task: { ...task, title: purse.short(task.title, 30) } } : {}),
    ...(subStep === undefined ? {} : { subStep }),
    ...(ralphIteration === undefined ? {} : { ralphIteration }),
    agent,
    ...(delegate ? { delegate } : {}),
    progress,
    ...(worktree === undefined ? {} : { worktree }),
    ...(warning === undefined ? {} : { warning: purse.first(redactQuickly(warning), 60) }),
    ...(restored ? { restored } : {}),
    ...(instructions === undefined ? {} : { instructions }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(contextAction === undefined ? {} : { contextAction }),
    ...(message === undefined ? {} : { message }),
    ...(waiting
      ? { waiting: { for: waiting.for, by: waiting.by, what: purse.first(waiting.what, 60) } }
      : {}),
    ...(checking ? { checking: true as const, retry_after: 5 } : {}),
    ...(replayed ? { replayed: true as const } : {}),
    ...(interrupted ? { interrupted: true as const } : {}),
    ...(told.failed_gates ? { failed_gates: failedGates(told.failed_gates, purse) } : {}),
    ...(last_failure === undefined ? {} : { last_failure: purse.first(last_failure, 60) }),
    ...(unstable_files ? { unstable_files: purse.items(unstable_files) } : {}),
    ...(told.held ? { held: purse.items(told.held) } : {}),
    ...(told.ready ? { ready: purse.items(told.ready) } : {}),
    next,
    ...(purse.cut() ? { more: told.failed_gates ? `the output ${whereMore}` : whereMore } : {}),
  };
}

/** What the position asks for, with the reviewer's words and the answers that belong to it. */
function instructionsIn({
  instructions,
  feedback,
  answers = [],
}: StatusText<AnsweredStatus>): string | undefined {
  if (instructions === undefined) return undefined;
  const told = answers.map(({ question, answer }) => `Question: ${question}\nAnswer: ${answer}`);
  return bounded([...(feedback === undefined ? [] : [feedback]), instructions, ...told].join('\n\n'));
}

function failedGates(receipts: readonly Receipt[], purse: Purse): FailedGate[] {
  const shown = receipts.slice(0, mostGates);
  if (shown.length < receipts.length) purse.leaveOut();
  const heads = shown.map(({ what, exit }) => ({
    gate: purse.first(what, 20),
    ...(exit === undefined ? {} : { exit }),
  }));
  // What is left goes to the outputs, in equal shares.
  return heads.map((head, index) => {
    const tail = purse.telling(shown[index]?.tail ?? '', 1 / (heads.length - index));
    return tail === '' ? head : { ...head, tail };
  });
}

interface Purse {
  spend(text: string | undefined): void;
  first(text: string, most: number): string;
  /** The same where the rest is no loss. */
  short(text: string, most: number): string;
  /** What an output says of a failure, within a share of what is left. */
  telling(text: string, share: number): string;
  items<T>(items: readonly T[]): T[];
  leaveOut(): void;
  cut(): boolean;
}

function createPurse(tokens: number): Purse {
  let left = tokens;
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
    telling(text, share) {
      // The key of the tail and what says where the rest is cost something as well.
      const kept = tellingLines(text, Math.floor(Math.max(0, (left - 15) * share)));
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
