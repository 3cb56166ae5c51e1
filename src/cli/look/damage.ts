import { commandName } from '../../command-name.ts';
import type { RefusalText } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';

/** Verifies the whole run; undefined if it is intact. */
export async function damageOf({ store }: LocalRuntime, run: string): Promise<RefusalText | undefined> {
  const problems = (await store.check(run))?.problems ?? [];
  const [first] = problems;
  if (!first) return undefined;
  const where = first.line === undefined ? 'its journal' : `line ${first.line} of its journal`;
  const more = problems.length === 1 ? '' : `, and ${problems.length - 1} more`;
  return {
    code: first.kind === 'fork' ? 'store_forked' : 'store_corrupt',
    message: `${where} is damaged: ${first.message}${more}`,
    next: `${commandName()} repair ${run}`,
  };
}
