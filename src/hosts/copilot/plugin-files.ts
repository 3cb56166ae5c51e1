import { hooksFile, type Registration, shimCommand } from '../claude-format/index.ts';
import { registrations } from './capabilities.ts';
import { hostName, kindOf } from './parse-payload.ts';

/** In the published package. It is a marketplace with one plugin, which the host loads in place. */
export const pluginFolder = 'copilot';

// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
const shim = '"${PLUGIN_ROOT}/../hooks/stepfast-hook.sh"';

/** `hooks.json` of the plugin. */
export function pluginHooks(): object {
  const { hooks } = hooksFile(registrations, hookFor);
  // An entry has no group around it.
  const flat = Object.entries(hooks).map(([event, groups]) => [
    event,
    groups.flatMap(({ matcher, hooks: entries }) =>
      entries.map((entry) => ({ ...(matcher === undefined ? {} : { matcher }), ...entry })),
    ),
  ]);
  return { version: 1, hooks: Object.fromEntries(flat) };
}

function hookFor(registration: Registration): object {
  const command = shimCommand(hostName, shim, registration);
  const kind = kindOf[registration.event];
  const isTool = kind === 'before_tool' || kind === 'after_tool';
  return {
    type: 'command',
    // A hook that fails denies a tool. Where the plugin is gone, nothing is said.
    bash: isTool ? `${command} || :` : `test ! -f ${shim} || ${command}`,
    timeoutSec: registration.timeout,
  };
}

/** `plugin.json`. The host starts servers in the plugin's folder unless they have a folder of their own. */
export const pluginManifest = (version: string): object => ({
  name: 'stepfast',
  version,
  description:
    'Keeps long work on course: the engine holds the position, runs the checks and remembers through compactions.',
  author: { name: 'The Stepfast authors' },
  license: 'MIT',
  keywords: ['workflow', 'context', 'compaction', 'mcp'],
  hooks: 'hooks.json',
  skills: 'skills/',
  mcpServers: {
    stepfast: {
      type: 'local',
      command: 'node',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
      args: ['${PLUGIN_ROOT}/../dist/cli.js', 'mcp', '--tools-only'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
      cwd: '${PWD}',
      tools: ['*'],
    },
  },
});
