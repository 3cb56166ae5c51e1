import { type Registration, registrations } from './capabilities.ts';
import { hostName } from './parse-payload.ts';

/** `hooks/hooks.json` of the plugin. Quoted, since a path may have blanks; `sh`, since some copies lose modes. */
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

/** Shown on a person's screen. Where the file is gone, `sh` may end with 2, which means to a host: block. */
const commandFor = ({ mark, event }: Registration): string => `sh ${shim} ${mark} ${hostName} ${event} || :`;
