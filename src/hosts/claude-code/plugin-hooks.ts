import { type Registration, registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

/**
 * `hooks/hooks.json` of the plugin. The path is quoted because it may have blanks, and started with `sh` because some
 * ways to copy a plugin lose file modes.
 */
export function pluginHooks(): object {
  const hooks: Record<string, object[]> = {};
  for (const registration of registrations) {
    const { event, matcher } = registration;
    hooks[event] ??= [];
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [hookFor(registration, shim)],
    });
  }
  return { hooks };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
const shim = '"${CLAUDE_PLUGIN_ROOT}/hooks/stepfast-hook.sh"';

/** An entry of a settings file. `program` starts the shim. */
export function hookFor({ mark, event, timeout, status, wakes }: Registration, program: string): object {
  // Appears on a person's screen. Where the file is missing, `sh` may exit with 2, which would block the event.
  const command = `sh ${program} ${mark} ${hostName} ${event}`;
  if (wakes !== undefined)
    return { type: 'command', command: `${command} wake`, timeout, asyncRewake: true, rewakeSummary: wakes };
  return {
    type: 'command',
    command: `${command} || :`,
    timeout,
    ...(status === undefined ? {} : { statusMessage: status }),
  };
}
