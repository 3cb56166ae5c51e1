import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { Check, FoundHost, SetupContext } from '../../runtime/index.ts';
import { isRefusal, readDocument, readSettingsFile } from '../settings/index.ts';
import { dialect, homeOf, lookInstalled, pluginId, real, settingsFile } from './installed.ts';

/** The version that the tests of this adapter run. */
export const testedVersion = '1.0.102';

/** `version`: the plugin version that this program would install. */
export async function checkCopilot(
  found: FoundHost,
  context: SetupContext,
  version: string,
): Promise<Check[]> {
  return [
    checkVersion(found),
    ...checkSettings(context),
    await checkPlugin(found, context, version),
    ...checkTrust(context),
  ];
}

function checkVersion({ program, version }: FoundHost): Check {
  const what = 'Copilot CLI';
  if (version === undefined)
    return { what, state: 'wrong', says: `${program} tells no version`, next: 'install it again' };
  if (version === testedVersion) return { what, state: 'ok', says: `${version}, as tested` };
  return { what, state: 'ok', says: `${version}; Stepfast was tested with ${testedVersion}` };
}

function checkSettings(context: SetupContext): Check[] {
  const file = settingsFile(context);
  const document = readDocument(readSettingsFile(file) ?? '', dialect);
  if (isRefusal(document)) {
    const { line, column, problem } = document;
    const says = `${file}, line ${line}, column ${column}: ${problem}`;
    return [{ what: 'settings', state: 'wrong', says, next: `fix ${file}` }];
  }
  const { value } = document;
  if (typeof value !== 'object' || value === null || !('disableAllHooks' in value)) return [];
  if (value.disableAllHooks !== true) return [];
  const says = `"disableAllHooks" in ${file} turns all hooks off`;
  return [{ what: 'hooks', state: 'wrong', says, next: 'take it out' }];
}

async function checkPlugin(found: FoundHost, context: SetupContext, version: string): Promise<Check> {
  const what = 'plugin';
  const known = await lookInstalled(found, context);
  if (!known)
    return {
      what,
      state: 'wrong',
      says: "'copilot plugin list --json' printed no list",
      next: 'copilot update',
    };
  const init = `${commandName()} init --host copilot`;
  if (!known.plugin) return { what, state: 'wrong', says: 'not installed', next: init };
  const { enabled, folder, version: installed } = known.plugin;
  if (!enabled)
    return { what, state: 'wrong', says: 'switched off', next: `copilot plugin enable ${pluginId}` };
  const missing = ['hooks.json', '../hooks/stepfast-hook.sh', '../dist/hook.cjs', '../dist/cli.js'].find(
    (name) => folder !== undefined && !existsSync(join(folder, name)),
  );
  if (missing !== undefined)
    return { what, state: 'wrong', says: `${join(folder ?? '', missing)} is missing`, next: init };
  if (installed === version) return { what, state: 'ok', says: `${version}, for all your projects` };
  const says = `${installed ?? 'an unknown version'} is installed, and this is ${version}`;
  return { what, state: 'wrong', says, next: init };
}

/** The host asks at the first session in a folder; hooks of the user run all the same. */
function checkTrust(context: SetupContext): Check[] {
  const document = readDocument(readQuietly(join(homeOf(context), 'config.json')), dialect);
  if (isRefusal(document) || typeof document.value !== 'object' || document.value === null) return [];
  const folders = Object.entries(document.value).find(([key]) => /^trusted_?folders$/i.test(key))?.[1];
  const trusted =
    Array.isArray(folders) &&
    folders.some((folder) => typeof folder === 'string' && isWithin(context.root, folder));
  const what = 'folder trust';
  if (trusted) return [{ what, state: 'ok', says: 'Copilot CLI trusts this folder' }];
  const says = 'Copilot CLI has not been asked to trust this folder: it asks when a session is opened';
  return [{ what, state: 'note', says }];
}

function readQuietly(file: string): string {
  try {
    return readSettingsFile(file) ?? '';
  } catch {
    return '';
  }
}

const isWithin = (path: string, folder: string): boolean =>
  `${real(path)}/`.startsWith(`${real(folder).replace(/\/$/, '')}/`);
