import { commandName } from '../../command-name.ts';
import type { Verdict } from '../../machine/index.ts';
import { isRefused, type LocalRuntime } from '../../runtime/index.ts';
import { nearest } from '../../suggest.ts';
import { readArgs } from '../args.ts';
import { isPerson, personOnly, reviewerOf } from '../caller.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { printAnswer, printRefusal, type RunValues, watchedCall } from '../perform.ts';
import { withTarget } from '../run-name.ts';
import { openRuntime, positionOptions } from '../run-options.ts';
import { handleOf } from './show-review.ts';
import { giveVerdict } from './verdict.ts';

export const options = {
  ...positionOptions,
  feedback: { type: 'string' },
  to: { type: 'string' },
  as: { type: 'string' },
  turns: { type: 'string' },
  tokens: { type: 'string' },
  minutes: { type: 'string' },
  cost: { type: 'string' },
} as const;

const verdicts: readonly Verdict[] = ['approve', 'revise', 'pivot', 'escalate', 'abandon'];

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'verdict' });
  const verdict = verdictOf(positionals[0] ?? '');
  const { feedback, to, turns, tokens, minutes, cost } = values;
  const amounts = { turns, tokens, minutes, cost };
  const amount = Object.fromEntries(
    Object.entries(amounts).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, amountIn(text, name)]],
    ),
  );
  const more = Object.keys(amount).length > 0 ? amount : undefined;
  const given = Object.entries({ ...amounts, to, feedback }).flatMap(([flag, text]) =>
    text === undefined ? [] : [`--${flag} ${flag === 'feedback' ? JSON.stringify(text) : text}`],
  );
  const command = [`${commandName()} review ${verdict}`, ...given].join(' ');
  if (isPerson(io)) return await giveVerdict(io, values, { verdict, feedback, to, amount: more }, command);
  const runtime = openRuntime(io, values);
  const request = {
    type: 'review' as const,
    verdict,
    at: values.at,
    feedback,
    to,
    amount: more,
  };
  const who = reviewerOf(io, await workersOf(runtime, values), values.as);
  const answer = await watchedCall(io, values, request, { runtime, who });
  if (answer === 'detached') return exit.pending;
  const { reply } = answer;
  if (isRefused(reply) && reply.code === 'person_only')
    return printRefusal(
      personOnly(io, 'give this verdict', withTarget(command, values)) ?? reply,
      io,
      values,
    );
  return await printAnswer(answer, io, values, runtime, true);
}

/** The sessions that did the work waiting for review. */
async function workersOf(runtime: LocalRuntime, { run, at }: RunValues): Promise<(string | undefined)[]> {
  const found = await runtime.chooseRun({ run, at });
  const state = 'code' in found ? undefined : (await runtime.engine.view(found.run))?.state;
  if (!state) return [];
  const meant = Object.values(state.cursors).filter(
    (cursor) => at === undefined || handleOf(state, cursor) === at,
  );
  return meant.map(({ waiting }) => (waiting?.kind === 'review' ? waiting.session : undefined));
}

function verdictOf(word: string): Verdict {
  const verdict = verdicts.find((one) => one === word);
  if (verdict) return verdict;
  const meant = nearest(word, verdicts);
  throw usageError(
    `There is no verdict '${word}'. ${meant === undefined ? `Use one of: ${verdicts.join(', ')}.` : `Did you mean '${meant}'?`}`,
  );
}

/** Of dollars a part may be given, of everything else a whole number. */
function amountIn(text: string, flag: string): number {
  const [form, what] =
    flag === 'cost' ? [/^\d{1,10}(\.\d{1,2})?$/, 'an amount such as 0.5'] : [/^\d{1,10}$/, 'a whole number'];
  if (!form.test(text) || Number(text) === 0) throw usageError(`--${flag} takes ${what}, not '${text}'.`);
  return Number(text);
}
