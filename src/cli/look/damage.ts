import type { RefusalText } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';

type Problem = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>['problems'][number];

/** Verifies the whole run; undefined if it is intact. */
export async function damageOf({ store }: LocalRuntime, run: string): Promise<RefusalText | undefined> {
  const problems = (await store.check(run))?.problems ?? [];
  const [first] = problems;
  if (!first) return undefined;
  const where = first.line === undefined ? 'its journal' : `line ${first.line} of its journal`;
  const more = problems.length === 1 ? '' : `, and ${problems.length - 1} more`;
  return {
    code: first.kind === 'fork' ? 'store_forked' : 'store_corrupt',
    message: `${where} is damaged: ${bareMessage(first)}${more}`,
    next: `stepfast repair ${run}`,
  };
}

/** Strips the store's suggested fix; callers print their own. */
export const bareMessage = ({ message }: Problem): string =>
  message.replace(/: (?:stepfast repair|choose one|restore it|update Stepfast).*$/, '');
