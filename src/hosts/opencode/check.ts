import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandName } from '../../command-name.ts';
import type { Check, FoundHost, SetupContext } from '../../runtime/index.ts';
import { isJsonObject, isRefusal, type Json, readDocument, readSettingsFile } from '../settings/index.ts';
import { dialect, settingsFiles } from './settings-file.ts';

/** The version that the tests of this adapter run. */
export const testedVersion = '1.18.33';

/** OpenCode runs without a plugin that it cannot load, and does not say so. */
export async function checkOpenCode(
  { version: found }: FoundHost,
  context: SetupContext,
  version: string,
): Promise<Check[]> {
  const documents = settingsFiles(context).map((file) => ({ file, read: read(file) }));
  const broken = documents.find(({ read: { problem } }) => problem !== undefined);
  const values = documents.flatMap(({ read: { value } }) => (value === undefined ? [] : [value]));
  return [
    {
      what: 'OpenCode',
      state: 'ok',
      says:
        found === testedVersion
          ? `${found}, as tested`
          : `${found}; Stepfast was tested with ${testedVersion}`,
    },
    ...(broken
      ? [
          wrong(
            'settings',
            `${basename(broken.file)}, ${broken.read.problem}`,
            `fix ${basename(broken.file)}`,
          ),
        ]
      : [checkPlugin(values, version), checkServer(values)]),
  ];
}

function read(file: string): { value?: Json; problem?: string } {
  const document = readDocument(readSettingsFile(file) ?? '', dialect);
  if (!isRefusal(document)) return { value: document.value };
  return { problem: `line ${document.line}, column ${document.column}: ${document.problem}` };
}

function checkPlugin(values: readonly Json[], version: string): Check {
  const plugins = values.flatMap((value) =>
    isJsonObject(value) && Array.isArray(value.plugin) ? value.plugin : [],
  );
  const url = plugins.find((each) => /^file:.*opencode-plugin\.js$/.test(String(each)));
  const what = 'plugin';
  if (typeof url !== 'string') return wrong(what, 'not installed in this project', `${commandName()} init`);
  const file = fileURLToPath(url);
  const root = join(file, '..', '..');
  const needed = [
    file,
    ...['hooks/stepfast-hook.sh', 'dist/hook.cjs', 'dist/cli.js'].map((name) => join(root, name)),
  ];
  const missing = needed.find((each) => !existsSync(each));
  if (missing !== undefined)
    return wrong(what, `${missing} is missing, and OpenCode runs without it`, `${commandName()} init`);
  const installed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  if (installed === version) return { what, state: 'ok', says: version };
  return wrong(what, `${installed} is installed, and this is ${version}`, `${commandName()} init`);
}

function checkServer(values: readonly Json[]): Check {
  const what = 'tools';
  const [server] = values.flatMap((value) => {
    const mcp = isJsonObject(value) ? value.mcp : undefined;
    return isJsonObject(mcp) && isJsonObject(mcp.stepfast) ? [mcp.stepfast] : [];
  });
  if (!server) return wrong(what, "there is no server 'stepfast' in mcp", `${commandName()} init`);
  if (server.enabled === false) return wrong(what, 'mcp.stepfast is switched off', 'set "enabled": true');
  return { what, state: 'ok', says: 'mcp.stepfast' };
}

const wrong = (what: string, says: string, next: string): Check => ({ what, state: 'wrong', says, next });
