import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { Check, FoundHost, SetupContext } from '../../runtime/index.ts';
import { checkVersion } from '../check-version.ts';
import { type ListedHook, listHooks, startAppServer } from './app-server.ts';
import { type Installed, lookInstalled, pluginId } from './installed.ts';

/** The version that the tests of this adapter run. */
const testedVersion = '0.169.0';

/** `version`: the plugin version that this program would install. */
export async function checkCodex(found: FoundHost, context: SetupContext, version: string): Promise<Check[]> {
  const about = { title: 'Codex', tested: testedVersion, update: 'npm install -g @openai/codex' };
  const known = await lookInstalled(found, context);
  const plugin = checkPlugin(known, version);
  return [checkVersion(found, about), plugin, ...(plugin.state === 'ok' ? [await checkTrust(context)] : [])];
}

function checkPlugin(known: Installed | undefined, version: string): Check {
  const what = 'plugin';
  const init = `${commandName()} init`;
  if (!known)
    return {
      what,
      state: 'wrong',
      says: "'codex plugin list --json' printed no list",
      next: 'codex plugin list',
    };
  const { plugin, marketplace } = known;
  if (!plugin) return { what, state: 'wrong', says: 'not installed', next: init };
  if (!plugin.enabled) return { what, state: 'wrong', says: 'switched off', next: 'codex, then /plugins' };
  if (marketplace !== undefined && !existsSync(join(marketplace, 'hooks', 'codex.json')))
    return {
      what,
      state: 'wrong',
      says: `${join(marketplace, 'hooks', 'codex.json')} is missing`,
      next: init,
    };
  if (plugin.version !== version)
    return {
      what,
      state: 'wrong',
      says: `${plugin.version ?? 'an unknown version'} is installed, and this is ${version}`,
      next: init,
    };
  return { what, state: 'ok', says: `${version}, for all projects of this user` };
}

/** Codex skips hooks that nobody has trusted, and says nothing. */
async function checkTrust({ env, root }: SetupContext): Promise<Check> {
  try {
    const server = await startAppServer({ env, cwd: root });
    try {
      const hooks = (await listHooks(server, root)).filter(({ plugin }) => plugin === pluginId);
      return trustOf(hooks);
    } finally {
      await server.host.end(0);
    }
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return { what: 'hooks', state: 'note', says: `could not be asked for: ${says}` };
  }
}

/** `hooks`: of the plugin. */
export function trustOf(hooks: readonly ListedHook[]): Check {
  const what = 'hooks';
  const untrusted = hooks.filter(({ trusted }) => !trusted).length;
  if (hooks.length === 0)
    return {
      what,
      state: 'wrong',
      says: 'Codex has none of the plugin: its features "hooks" or "plugins" may be off',
      next: 'codex features list',
    };
  if (untrusted === 0) return { what, state: 'ok', says: `all ${hooks.length} are trusted` };
  return {
    what,
    state: 'wrong',
    says: `${untrusted} of ${hooks.length} are not trusted: Codex skips them without a word`,
    next: 'codex, and trust the hooks when it asks (or later: /hooks)',
  };
}
