import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isPayload } from '../payload.ts';

/** A hook as it is registered. */
export interface LiveHook {
  event: string;
  mark: string;
  command: string;
}

/** One start of a hook by the host. */
export interface Fired {
  mark: string;
  code: number;
  stdout: string;
}

/** Runs the real hook and records its output. */
const probe = `#!/bin/sh
mark=$1
out=$(mktemp "\${0%/*}/fired/$mark.XXXXXX")
sh -c "$2" >"$out" 2>"$out.err"
code=$?
echo "$code" >"$out.code"
cat "$out"
cat "$out.err" >&2
exit "$code"
`;

/** Copies the plugin to the empty `folder`, with each hook behind the probe. */
export function probed(plugin: string, folder: string): LiveHook[] {
  mkdirSync(join(folder, 'hooks', 'fired'), { recursive: true });
  for (const name of readdirSync(plugin)) {
    if (name === 'hooks' || name.startsWith('.git') || name === 'node_modules') continue;
    if (name === '.claude-plugin') cpSync(join(plugin, name), join(folder, name), { recursive: true });
    else symlinkSync(join(plugin, name), join(folder, name));
  }
  cpSync(join(plugin, 'hooks', 'stepfast-hook.sh'), join(folder, 'hooks', 'stepfast-hook.sh'));
  writeFileSync(join(folder, 'hooks', 'probe.sh'), probe, { mode: 0o755 });
  const registered: unknown = JSON.parse(readFileSync(join(plugin, 'hooks', 'hooks.json'), 'utf8'));
  const hooks: LiveHook[] = [];
  const rewritten = JSON.stringify(registered, (_, value: unknown) => {
    if (!isPayload(value) || typeof value.command !== 'string') return value;
    const [, mark = '', event = ''] = /stepfast-hook\.sh"? (\S+) \S+ (\S+)/.exec(value.command) ?? [];
    hooks.push({ event, mark, command: value.command });
    return { ...value, command: `sh "\${CLAUDE_PLUGIN_ROOT}/hooks/probe.sh" ${mark} '${value.command}'` };
  });
  writeFileSync(join(folder, 'hooks', 'hooks.json'), rewritten);
  return hooks;
}

export function firedIn(folder: string): Fired[] {
  const fired = join(folder, 'hooks', 'fired');
  return readdirSync(fired)
    .filter((name) => !/\.(err|code)$/.test(name))
    .map((name) => {
      const code = join(fired, `${name}.code`);
      return {
        mark: name.replace(/\.\w+$/, ''),
        // Without an exit code, the host killed it.
        code: existsSync(code) ? Number(readFileSync(code, 'utf8')) : -1,
        stdout: readFileSync(join(fired, name), 'utf8'),
      };
    });
}
