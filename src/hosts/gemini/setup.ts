import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import type { Check, HostSetup } from '../../runtime/index.ts';
import { extensionFolder, extensionName } from './extension.ts';
import { commandLine, failed, lookInstalled, noList, sameFolder } from './installed.ts';
import { hostName } from './parse-payload.ts';
import { askGemini, findGemini, programName } from './program.ts';

/** The version that the tests of this adapter run. */
const testedVersion = '0.61.0';

const title = 'Gemini CLI';

/** Links the extension, which is for all projects of the person. */
export const geminiSetup: HostSetup = {
  name: hostName,
  title,
  program: programName,
  go: '/stepfast:go',
  find: findGemini,
  plan: async (found, context, { plugin, team }) => {
    const known = await lookInstalled(found, context);
    if (known === undefined) return noList(found, 'init');
    const folder = join(plugin, extensionFolder);
    if (known && !sameFolder(known.folder, folder))
      return {
        code: 'other_extension',
        message: `Gemini CLI has another extension named '${extensionName}', from ${known.folder}.`,
        next: `gemini extensions uninstall ${extensionName}, then: ${commandName()} init`,
      };
    const link = ['extensions', 'link', folder, '--consent'];
    const notes = ['Gemini CLI runs hooks and MCP servers only in folders that you trust.'];
    if (team) notes.push('Gemini CLI has no extensions for a project: each person installs it.');
    if (known && !known.isActive)
      notes.push(`The extension is disabled here. Enable it: gemini extensions enable ${extensionName}`);
    return {
      commands: known ? [] : [commandLine(link)],
      edits: [],
      notes,
      perform: async () => {
        const ran = known ? undefined : await askGemini(found, link, context);
        return ran && ran.code !== 0 ? failed(link, ran, 'init') : undefined;
      },
    };
  },
  uninstall: async (found, context, { plugin }) => {
    const nothing = { commands: [], files: [], notes: [] };
    // Without the host, nothing tells whether it has the extension.
    if (!found) return { ...nothing, used: false };
    const known = await lookInstalled(found, context);
    if (known === undefined) return noList(found, 'uninstall');
    if (!known || !sameFolder(known.folder, join(plugin, extensionFolder)))
      return { ...nothing, used: false };
    const args = ['extensions', 'uninstall', extensionName];
    const ran = await askGemini(found, args, context);
    if (ran.code !== 0) return failed(args, ran, 'uninstall');
    return { ...nothing, commands: [commandLine(args)], used: false };
  },
  check: async (found, context, version) => {
    const what = 'extension';
    const known = await lookInstalled(found, context);
    const init = `${commandName()} init --host ${hostName}`;
    const extension = (): Check => {
      if (!known) return { what, state: 'wrong', says: 'not installed', next: init };
      if (!existsSync(join(known.folder, '..', 'dist', 'hook.cjs')))
        return { what, state: 'wrong', says: `${known.folder} has no program beside it`, next: init };
      if (!known.isActive) {
        const next = `gemini extensions enable ${extensionName}`;
        return { what, state: 'wrong', says: 'disabled in this project', next };
      }
      if (known.version === version) return { what, state: 'ok', says: version };
      const says = `${known.version ?? 'an unknown version'} is installed, and this is ${version}`;
      return { what, state: 'wrong', says, next: init };
    };
    return [checkVersion(found.version), extension()];
  },
  live: async (found, plugin, env) => {
    if (!found) return [];
    // In a home of its own, so that nothing of the person's is read or written.
    const home = mkdtempSync(join(tmpdir(), 'stepfast-gemini-'));
    try {
      const args = ['extensions', 'validate', join(plugin, extensionFolder)];
      const { code, stdout, stderr } = await askGemini(found, args, {
        env: { ...env, HOME: home },
        root: home,
      });
      const says = `${stdout}${stderr}`.trim().split('\n').at(-1) ?? '';
      return [{ what: title, state: code === 0 ? 'ok' : 'wrong', says }];
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};

function checkVersion(version: string | undefined): Check {
  if (version === testedVersion) return { what: title, state: 'ok', says: `${version}, as tested` };
  const says = `${version ?? 'an unknown version'}; Stepfast was tested with ${testedVersion}`;
  return { what: title, state: 'note', says };
}
