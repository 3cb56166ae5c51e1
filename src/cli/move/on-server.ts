import type { LocalRuntime, Refused } from '../../runtime/index.ts';

export const isOfFiles = ({ serverOf }: LocalRuntime, run: string): boolean => serverOf(run) === undefined;

/** What cannot be done with a run that has no files here, and need not. */
export function onServer({ serverOf }: LocalRuntime, run: string, what: string): Refused | undefined {
  const url = serverOf(run);
  if (url === undefined) return undefined;
  return {
    code: 'on_server',
    message: `${run} lives on ${url}: it has no files here that could be ${what}`,
    next: 'work on it from any checkout that is logged in there: stepfast login',
  };
}
