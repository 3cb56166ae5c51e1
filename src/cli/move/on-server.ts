import { commandName } from '../../command-name.ts';
import type { RefusalText } from '../../messages/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';

export const isLocal = ({ serverOf }: LocalRuntime, run: string): boolean => serverOf(run) === undefined;

/** Refuses actions that need local files for a run that is stored on a server. */
export function onServer({ serverOf }: LocalRuntime, run: string, what: string): RefusalText | undefined {
  const url = serverOf(run);
  if (url === undefined) return undefined;
  return {
    code: 'on_server',
    message: `${run} is stored on ${url}, so it cannot be ${what}`,
    next: `use it from any checkout that is logged in to that server: ${commandName()} login`,
  };
}
