import { commandName } from '../../command-name.ts';
import { allUsedUp, type CommandOf, unitsUsedUp, type Verdict } from '../../machine/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { moreFlags, printable, usedUpSentence } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';
import { person, personOnly } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import type { Io } from '../io.ts';
import { perform, printRefusal, type RunValues } from '../perform.ts';
import { runToName, suffixOf, withTarget } from '../run-name.ts';
import { openRuntime } from '../run-options.ts';
import { type Decidable, decidable, showDecision } from './show-review.ts';

export interface Decision {
  verdict: Verdict;
  feedback?: string | undefined;
  to?: string | undefined;
  amount?: CommandOf<'review'>['amount'];
}

/** Shows the position, asks the person to confirm, then applies the verdict to exactly that position. */
export async function giveVerdict(
  io: Io,
  values: RunValues,
  decision: Decision,
  command: string,
): Promise<number> {
  const refused = personOnly(io, 'approve or reject work', withTarget(command, values));
  if (refused) return printRefusal(refused, io, values);
  const runtime = openRuntime(io, values);
  const found = await decidable(runtime, values);
  if ('code' in found) return printRefusal(found, io, values);
  const name = await runToName(runtime, found.view.run);
  const { definition, run } = found.view;
  const invalid = wouldRefuse(found, decision, name) ?? runtime.untrusted(definition, run);
  if (invalid) return printRefusal(invalid, io, values, name);
  await showDecision(found, runtime, io);
  if (decision.feedback !== undefined) io.stderr.write(`\nYour feedback: ${printable(decision.feedback)}\n`);
  if (!(await confirm(io, `\n${questionFor(found, decision)}`))) return printDeclined(io, values);
  if (await hasMoved(found, runtime)) return printRefusal(moved(found), io, values);
  const { verdict, feedback, to, amount } = decision;
  const request = { type: 'review' as const, verdict, at: found.at, feedback, to, amount };
  return await perform(io, values, request, { runtime, who: person(io), run });
}

/** A handle protects a position from stale verdicts; a verdict on the whole run has none, so versions are compared. */
const hasMoved = async ({ at, view }: Decidable, { engine }: LocalRuntime): Promise<boolean> =>
  at === undefined && (await engine.view(view.run))?.version.hash !== view.version.hash;

const moved = ({ view }: Decidable): RefusalText => ({
  code: 'stale_handle',
  message: `${view.run} has changed since it was shown.`,
  next: `Look again: ${commandName()} status ${suffixOf(view.run)}`,
});

/** Reports what the machine would refuse, before the person is asked to confirm. */
function wouldRefuse(
  { view, cursor }: Decidable,
  { verdict, amount = {} }: Decision,
  name: string | undefined,
): RefusalText | undefined {
  const over = allUsedUp(view.state);
  // A pivot gives the step a new budget, but not the run.
  const needed = { approve: over, pivot: over.filter(({ of }) => of === 'run') }[String(verdict)] ?? [];
  const lacking = needed.find(({ unit }) => !amount[unit]);
  if (lacking) {
    const [unit = lacking.unit, ...more] = unitsUsedUp(view.definition, view.state);
    const command = `${commandName()} review ${verdict} ${moreFlags({ unit, more })}`;
    return {
      code: 'amount_required',
      message: usedUpSentence({ ...lacking, step: view.state.step }),
      next: `Add more: ${withTarget(command, { run: name })}`,
    };
  }
  if (verdict === 'revise' && over.length > 0)
    return {
      code: 'bad_verdict',
      message: 'A budget cannot be revised.',
      next: 'Approve with an amount, pivot, escalate or abandon.',
    };
  if (verdict !== 'approve') return undefined;
  // A person may leave a loop whose tasks cannot be used.
  const leaves = cursor?.preparing?.kind === 'tasks';
  if (over.length > 0 || leaves || cursor?.waiting?.kind === 'review') return undefined;
  const next = `Unblock it: ${commandName()} reject "what to do differently"`;
  return {
    code: 'bad_verdict',
    message: `${cursor?.path ?? view.state.step} is blocked, so there is nothing to approve.`,
    next,
  };
}

function questionFor({ view, cursor }: Decidable, { verdict, amount = {}, to }: Decision): string {
  const what = printable(cursor?.path ?? view.state.step);
  const more = Object.entries(amount).map(([unit, number]) => `${number} more ${unit}`);
  switch (verdict) {
    case 'approve':
      return more.length > 0 ? `Give ${what} ${more.join(' and ')}?` : `Approve ${what}?`;
    case 'revise':
      return `Send ${what} back with your feedback?`;
    case 'pivot':
      return to === undefined
        ? `Pivot from ${what}?`
        : `Go back to '${printable(to)}' with a cleared context?`;
    case 'escalate':
      return `Escalate ${what}?`;
    case 'abandon':
      return 'End the run as failed?';
  }
}
