import type { Amount, CommandOf } from '../schema/index.ts';
import type { Batch } from './batch.ts';
import { parseHandle } from './handle.ts';
import { stepOf } from './steps.ts';

const idleMs = 5 * 60_000;
/** A larger amount in one call is a mistake, and sums must stay finite. */
const most = 1e12;

/** Minutes are active time: a gap of more than five minutes does not count. Spending of an earlier step is only recorded. */
export function spend(batch: Batch, command: CommandOf<'spend'>): undefined {
  const { state } = batch;
  const { budget } = state;
  const step =
    command.at === undefined ? state.step : (parseHandle(command.at)?.path.split('/', 1)[0] ?? state.step);
  const gap = budget.lastAt === undefined ? 0 : Math.max(0, batch.now - budget.lastAt);
  batch.emit('budget.spent', {
    step,
    turns: countable(command.turns),
    tokens: countable(command.tokens),
    activeMs: gap > idleMs ? 0 : gap,
  });
  const limit = stepOf(batch.definition, state.step).budget;
  const spent = state.budget;
  if (!limit || spent.exhausted !== undefined || step !== state.step) return;
  const used: Required<Amount> = {
    turns: spent.turns,
    tokens: spent.tokens,
    minutes: spent.activeMs / 60_000,
  };
  for (const what of ['turns', 'tokens', 'minutes'] as const) {
    const allowed = limit[what];
    if (allowed === undefined || used[what] < allowed + (spent.extra[what] ?? 0)) continue;
    batch.emit('budget.exhausted', { what });
    return;
  }
}

const countable = (amount: number | undefined): number =>
  amount !== undefined && Number.isFinite(amount) && amount > 0 ? Math.min(amount, most) : 0;
