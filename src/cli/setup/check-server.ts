import type { Check, LocalRuntime } from '../../runtime/index.ts';

/** The server that new runs begin on, where there is one, and as whom. */
export async function checkServer(
  { server }: LocalRuntime,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  if (!server) return [];
  const what = server.url;
  try {
    const { project, kind, name, scopes } = await server.whoami();
    const by = env.STEPFAST_URL?.trim() ? 'by STEPFAST_URL' : 'by login';
    const says = `answers; project '${project}', as the ${kind} '${name}', who may ${scopes.join(', ')} (${by})`;
    const able = scopes.includes('write') && scopes.includes('gates');
    const next = 'ask for a token with the scopes write and gates';
    return [
      able
        ? { what, state: 'ok', says }
        : { what, state: 'note', says: `${says}; gates cannot report`, next },
    ];
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return [{ what, state: 'wrong', says, next: `stepfast login ${what}` }];
  }
}
