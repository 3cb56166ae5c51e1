import { type Registration, registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

/**
 * `hooks/hooks.json` of the plugin. The path is quoted because it may have blanks, and started with `sh` because some
 * ways to copy a plugin lose file modes.
 */
export function pluginHooks(): object {
  const hooks: Record<string, object[]> = {};
  for (const registration of registrations) {
    const { event, matcher, timeout } = registration;
    hooks[event] ??= [];
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', command: commandFor(registration), timeout }],
    });
  }
  return { hooks };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in
const shim = '"${CLAUDE_PLUGIN_ROOT}/hooks/stepfast-hook.sh"';

/** Appears on a person's screen. Where the file is missing, `sh` may exit with 2, which would block the event. */
const commandFor = ({ mark, event }: Registration): string => `sh ${shim} ${mark} ${hostName} ${event} || :`;
