import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Check, FoundHost, SetupContext } from '../../runtime/index.ts';
import { isRefusal, readDocument, readSettingsFile } from '../settings/index.ts';
import { type InstalledPlugin, lookInstalled, pluginId } from './installed.ts';
import { dialect, sayWhere, settingIn, settingsFiles, shownFile } from './settings-files.ts';

/** The version that every test of this adapter runs. */
export const testedVersion = '2.1.325';

/** `version` is the plugin's that this program would install. */
export async function checkClaude(found: FoundHost, place: SetupContext, version: string): Promise<Check[]> {
  return [
    checkVersion(found),
    ...checkSettings(place),
    ...(await checkPlugin(found, place, version)),
    ...checkSwitches(place),
  ];
}

function checkVersion({ program, version }: FoundHost): Check {
  const what = 'Claude Code';
  if (version === undefined)
    return { what, state: 'wrong', says: `${program} tells no version`, next: 'install it again' };
  const order = compare(version, testedVersion);
  if (order === 0) return { what, state: 'ok', says: `${version}, as tested` };
  if (order > 0) return { what, state: 'ok', says: `${version}; Stepfast was tested with ${testedVersion}` };
  const says = `${version} is older than ${testedVersion}, with which Stepfast was tested`;
  return { what, state: 'note', says, next: 'claude update' };
}

/** A file that is broken turns off whatever is in it, the plugin too. */
function checkSettings(place: SetupContext): Check[] {
  return Object.values(settingsFiles(place)).flatMap((file): Check[] => {
    const name = shownFile(file, place);
    try {
      const document = readDocument(readSettingsFile(file) ?? '', dialect);
      if (!isRefusal(document)) return [];
      const says = `${sayWhere(name, document)}. Claude Code takes nothing from this file.`;
      return [{ what: 'settings', state: 'wrong', says, next: `mend ${name}` }];
    } catch (error) {
      const says = error instanceof Error ? error.message : String(error);
      return [{ what: 'settings', state: 'wrong', says, next: `mend ${name}` }];
    }
  });
}

async function checkPlugin(found: FoundHost, place: SetupContext, version: string): Promise<Check[]> {
  const what = 'plugin';
  const known = await lookInstalled(found, place);
  if (!known)
    return [
      { what, state: 'wrong', says: "'claude plugin list --json' gives no list", next: 'claude update' },
    ];
  const plugin = known.here.find(({ enabled }) => enabled) ?? known.here[0];
  if (!plugin)
    return [{ what, state: 'wrong', says: 'not installed in this project', next: 'stepfast init' }];
  if (!plugin.enabled)
    return [{ what, state: 'wrong', says: 'switched off', next: `claude plugin enable ${pluginId}` }];
  return [checkFiles(plugin) ?? checkAge(plugin, version)];
}

/** The host loads it in place, so its folder must be there. */
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
    next: 'stepfast init',
  };
}

function checkAge({ version: installed, scope }: InstalledPlugin, version: string): Check {
  const what = 'plugin';
  if (installed === version) return { what, state: 'ok', says: `${version}, ${scope} scope` };
  const says = `${installed ?? 'an unknown version'} is installed, and this is ${version}`;
  return { what, state: 'wrong', says, next: 'stepfast init' };
}

function checkSwitches(place: SetupContext): Check[] {
  const { user, project, local } = settingsFiles(place);
  const off = [local, project, user].find((file) => settingIn(file, 'disableAllHooks') !== undefined);
  const isOff = off !== undefined && settingIn(off, 'disableAllHooks') === true;
  const checks: Check[] = [];
  if (isOff)
    checks.push({
      what: 'hooks',
      state: 'wrong',
      says: `"disableAllHooks" in ${shownFile(off, place)} turns all hooks off`,
      next: 'take it out',
    });
  if (place.env.CLAUDE_CODE_SIMPLE)
    checks.push({
      what: 'hooks',
      state: 'wrong',
      says: 'CLAUDE_CODE_SIMPLE is set (as by --bare): sessions load no plugin and fire no hook',
      next: 'start Claude Code without it',
    });
  return checks;
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((each) => each.split('.').map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
