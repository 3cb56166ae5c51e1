import type { RefusalText } from '../../messages/index.ts';
import type { Runtime } from '../../runtime/index.ts';

export const isOfFiles = ({ serverOf }: Runtime, run: string): boolean => serverOf(run) === undefined;

/** What cannot be done with a run that has no files here, and need not. */
export function onServer({ serverOf }: Runtime, run: string, what: string): RefusalText | undefined {
  const url = serverOf(run);
  if (url === undefined) return undefined;
  return {
    code: 'on_server',
    message: `${run} lives on ${url}: it has no files here that could be ${what}`,
    next: 'work on it from any checkout that is logged in there: stepfast login',
  };
}
