import { hooksFile, shimCommand } from '../claude-format/index.ts';
import { registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

export const extensionName = 'stepfast';

/** The folder of the extension in the package. */
export const extensionFolder = 'gemini';

// The host fills it in: `gemini` in the folder of the plugin, whose files it shares.
const inPlugin = (path: string): string => ['${extension', 'Path}/../', path].join('');

/** `gemini-extension.json`. */
export const extensionManifest = (version: string): object => ({
  name: extensionName,
  version,
  description:
    'Keeps long work on course: the engine holds the position, runs the checks and remembers through compressions.',
  mcpServers: { stepfast: { command: 'node', args: [inPlugin('dist/cli.js'), 'mcp', '--tools-only'] } },
});

/** `hooks/hooks.json`. Without the file `sh` may exit with 2, which would block the event. */
export const extensionHooks = (): object =>
  hooksFile(registrations, (registration) => ({
    type: 'command',
    name: `stepfast-${registration.mark}`,
    command: `${shimCommand(hostName, `"${inPlugin('hooks/stepfast-hook.sh')}"`, registration)} || :`,
    timeout: registration.timeout * 1000,
  }));
