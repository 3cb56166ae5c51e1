import type { CommandOf, Verdict } from '../../machine/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { printable } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { person, personOnly } from '../caller.ts';
import { typed } from '../confirm.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { perform, printJson, printRefusal, type RunValues } from '../perform.ts';
import { runToName, sameOne, suffixOf } from '../run-name.ts';
import { given, openRuntime } from '../run-options.ts';
import { type Decidable, decidable, showDecision } from './show-review.ts';

export interface Decision {
  verdict: Verdict;
  feedback?: string | undefined;
  to?: string | undefined;
  amount?: CommandOf<'review'>['amount'];
}

/** A person's verdict: shown, typed, then carried out on exactly the position that was shown. */
export async function giveVerdict(
  io: Io,
  values: RunValues,
  decision: Decision,
  command: string,
): Promise<number> {
  const refused = personOnly(io, 'a verdict', sameOne(command, values));
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await decidable(runtime, values);
  if ('code' in found) return printRefusal(found, io, values);
  const hopeless = wouldRefuse(found, decision);
  if (hopeless) return printRefusal(hopeless, io, values, await runToName(runtime, found.view.run));
  await showDecision(found, runtime, io);
  if (decision.feedback !== undefined) io.stderr.write(`\nYour words: ${printable(decision.feedback)}\n`);
  if (!(await typed(io, found.word, purposeOf(decision)))) return declined(io, values);
  if (await hasMoved(found, runtime)) return printRefusal(moved(found), io, values);
  const { verdict, feedback, to, amount } = decision;
  const request = { type: 'review' as const, verdict, ...given({ at: found.at, feedback, to, amount }) };
  return await perform(io, values, request, { runtime, who: person(io), run: found.view.run });
}

/** A position is fenced by its handle; what concerns the whole run has none. */
const hasMoved = async ({ at, view }: Decidable, { engine }: LocalRuntime): Promise<boolean> =>
  at === undefined && (await engine.view(view.run))?.version.hash !== view.version.hash;

const moved = ({ view }: Decidable): RefusalText => ({
  code: 'stale_handle',
  message: `${view.run} has moved on since it was shown`,
  next: `look again: stepfast status ${suffixOf(view.run)}`,
});

/** What the machine would refuse after all: nobody should type a word for nothing. */
function wouldRefuse(
  { view, cursor, at }: Decidable,
  { verdict, amount = {} }: Decision,
): RefusalText | undefined {
  const { exhausted } = view.state.budget;
  if (verdict !== 'approve') return undefined;
  if (exhausted !== undefined && !amount[exhausted]) {
    const message = `the ${exhausted} of '${view.state.step}' are used up`;
    return {
      code: 'amount_required',
      message,
      next: `say how many more it gets: stepfast review approve --${exhausted} 20`,
    };
  }
  if (exhausted !== undefined || cursor?.waiting?.kind === 'review') return undefined;
  const next = 'get it going with: stepfast reject "what to do differently"';
  return {
    code: 'bad_verdict',
    message: `${at ?? view.state.step} is stuck, there is nothing to approve`,
    next,
  };
}

/** A person thought better of it. */
export function declined(io: Io, values: { json?: boolean | undefined }): number {
  if (!values.json) return exit.no;
  return printJson(io, { code: 'declined', message: 'nothing was changed', next: 'nothing' }, exit.no);
}

function purposeOf({ verdict, amount = {}, to }: Decision): string {
  const more = Object.entries(amount).map(([what, number]) => `${number} more ${what}`);
  if (verdict === 'approve') return more.length > 0 ? `give it ${more.join(' and ')}` : 'approve it';
  if (verdict === 'revise') return 'send it back with your words';
  if (verdict === 'pivot')
    return to === undefined ? 'pivot' : `go back to '${printable(to)}' with a cleared context`;
  return verdict === 'escalate' ? 'hand the decision on' : 'end the run as failed';
}
