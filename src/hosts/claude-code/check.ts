import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { Check, FoundHost, SetupContext } from '../../runtime/index.ts';
import { checkVersion } from '../check-version.ts';
import { isRefusal, readDocument, readSettingsFile } from '../settings/index.ts';
import { type InstalledPlugin, lookInstalled, pluginId } from './installed.ts';
import { describeError, dialect, settingIn, settingsFiles, shownFile } from './settings-files.ts';

/** The version that the tests of this adapter run. */
export const testedVersion = '2.1.325';

/** `version`: the plugin version that this program would install. */
export async function checkClaude(
  found: FoundHost,
  context: SetupContext,
  version: string,
): Promise<Check[]> {
  return [
    checkVersion(found, { title: 'Claude Code', tested: testedVersion, update: 'claude update' }),
    ...checkSettings(context),
    ...(await checkPlugin(found, context, version)),
    ...checkSwitches(context),
  ];
}

/** The host ignores a broken file, and with it the plugin. */
function checkSettings(context: SetupContext): Check[] {
  return Object.values(settingsFiles(context)).flatMap((file): Check[] => {
    const name = shownFile(file, context);
    try {
      const document = readDocument(readSettingsFile(file) ?? '', dialect);
      if (!isRefusal(document)) return [];
      const says = `${describeError(name, document)}. Claude Code ignores this file.`;
      return [{ what: 'settings', state: 'wrong', says, next: `fix ${name}` }];
    } catch (error) {
      const says = error instanceof Error ? error.message : String(error);
      return [{ what: 'settings', state: 'wrong', says, next: `fix ${name}` }];
    }
  });
}

async function checkPlugin(found: FoundHost, context: SetupContext, version: string): Promise<Check[]> {
  const what = 'plugin';
  const known = await lookInstalled(found, context);
  if (!known)
    return [
      { what, state: 'wrong', says: "'claude plugin list --json' printed no list", next: 'claude update' },
    ];
  const plugin = known.here.find(({ enabled }) => enabled) ?? known.here[0];
  if (!plugin)
    return [{ what, state: 'wrong', says: 'not installed in this project', next: `${commandName()} init` }];
  if (!plugin.enabled)
    return [{ what, state: 'wrong', says: 'switched off', next: `claude plugin enable ${pluginId}` }];
  return [checkFiles(plugin) ?? checkAge(plugin, version)];
}

/** The host loads it in place, so its folder must exist. */
function checkFiles({ folder }: InstalledPlugin): Check | undefined {
  if (folder === undefined) return undefined;
  const missing = ['hooks/hooks.json', 'hooks/stepfast-hook.sh', 'dist/hook.cjs', 'dist/cli.js'].find(
    (name) => !existsSync(join(folder, name)),
  );
  if (missing === undefined) return undefined;
  return {
    what: 'plugin',
    state: 'wrong',
    says: `${join(folder, missing)} is missing`,
    next: `${commandName()} init`,
  };
}

function checkAge({ version: installed, scope }: InstalledPlugin, version: string): Check {
  const what = 'plugin';
  if (installed === version) return { what, state: 'ok', says: `${version}, ${scope} scope` };
  const says = `${installed ?? 'an unknown version'} is installed, and this is ${version}`;
  return { what, state: 'wrong', says, next: `${commandName()} init` };
}

function checkSwitches(context: SetupContext): Check[] {
  const { user, project, local } = settingsFiles(context);
  const off = [local, project, user].find((file) => settingIn(file, 'disableAllHooks') !== undefined);
  const isOff = off !== undefined && settingIn(off, 'disableAllHooks') === true;
  const checks: Check[] = [];
  if (isOff)
    checks.push({
      what: 'hooks',
      state: 'wrong',
      says: `"disableAllHooks" in ${shownFile(off, context)} turns all hooks off`,
      next: 'take it out',
    });
  if (context.env.CLAUDE_CODE_SIMPLE)
    checks.push({
      what: 'hooks',
      state: 'wrong',
      says: 'CLAUDE_CODE_SIMPLE is set (as by --bare): sessions load no plugins and run no hooks',
      next: 'start Claude Code without it',
    });
  return checks;
}
