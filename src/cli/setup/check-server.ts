import { commandName } from '../../command-name.ts';
import { splitNext } from '../../messages/index.ts';
import type { Check, LocalRuntime } from '../../runtime/index.ts';
import { personNote } from '../serve/person-note.ts';

/** Checks the configured team server and the identity of its token. */
export async function checkServer(
  { server }: LocalRuntime,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  if (!server) return [];
  const what = server.url;
  try {
    const who = await server.whoami();
    const { project, kind, name, scopes } = who;
    const source = env.STEPFAST_URL?.trim() ? 'from STEPFAST_URL' : 'from login';
    const says = `responds; project '${project}', ${kind} '${name}', scopes ${scopes.join(', ')} (${source})`;
    if (kind === 'person')
      return [
        { what, state: 'wrong', says: `${says}; ${personNote(who)}`, next: `${commandName()} login ${what}` },
      ];
    const able = scopes.includes('write') && scopes.includes('gates');
    const next = 'get a token with the scopes write and gates';
    return [
      able
        ? { what, state: 'ok', says }
        : { what, state: 'note', says: `${says}; gate results cannot be reported`, next },
    ];
  } catch (error) {
    const [says, next = `${commandName()} login ${what}`] = splitNext(
      error instanceof Error ? error.message : String(error),
    );
    return [{ what, state: 'wrong', says, next }];
  }
}
