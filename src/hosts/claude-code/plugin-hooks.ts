import { hooksFile, type Registration, shimCommand } from '../claude-format/index.ts';
import { registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
const shim = '"${CLAUDE_PLUGIN_ROOT}/hooks/stepfast-hook.sh"';

/** `hooks/hooks.json` of the plugin. */
export const pluginHooks = (): object => hooksFile(registrations, (each) => hookFor(each, shim));

/** An entry of a settings file. `program` starts the shim. */
export function hookFor(registration: Registration, program: string): object {
  const { timeout, status, wakes } = registration;
  const command = shimCommand(hostName, program, registration);
  if (wakes !== undefined)
    return { type: 'command', command, timeout, asyncRewake: true, rewakeSummary: wakes };
  return {
    type: 'command',
    // Where the file is missing, `sh` may exit with 2, which would block the event.
    command: `${command} || :`,
    timeout,
    ...(status === undefined ? {} : { statusMessage: status }),
  };
}
