import type { LocalRuntime, Refused } from '../../runtime/index.ts';

type Problem = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>['problems'][number];

/** What a look at every byte of a run finds; undefined where it is whole. */
export async function damageOf({ store }: LocalRuntime, run: string): Promise<Refused | undefined> {
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

/** Without the remedy that the store adds: whoever prints it has one of its own. */
export const bareMessage = ({ message }: Problem): string =>
  message.replace(/: (?:stepfast repair|choose one|bring it back|update Stepfast).*$/, '');
