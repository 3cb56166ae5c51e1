import { hooksFile, shimCommand } from '../claude-format/index.ts';
import { registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

/**
 * The host's file of hooks. `plugin` is the folder with Stepfast's files, absolute or a variable that the host fills
 * in. Without the file `sh` may exit with 2, which some hosts take for a refusal.
 */
export const pluginHooks = (plugin: string): object =>
  hooksFile(registrations, (registration) => ({
    command: `${shimCommand(hostName, `"${plugin}/hooks/stepfast-hook.sh"`, registration)} || :`,
    timeout_ms: registration.timeout * 1000,
  }));
