import { join } from 'node:path';
import { hookFor, registrations } from '../../../src/hosts/claude-code/index.ts';
import type { ClaudeProject } from '../../../src/testing/index.ts';
import { createClaudeProject } from '../../kit/claude.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const shim = join(top, 'hooks', 'stepfast-hook.sh');
const mcp = {
  stepfast: { command: process.execPath, args: [join(top, 'dist', 'cli.js'), 'mcp'], alwaysLoad: true },
};

/** Hooks and server by settings, so that a test can leave out or break a hook. */
export const createStage = (files: Record<string, string>): Promise<ClaudeProject> =>
  createClaudeProject(files, { settings: settings(), mcp });

/** As the plugin registers them. `through` is appended to the SessionStart command. */
export function settings({ through = '' } = {}): Record<string, unknown> {
  const hooks: Record<string, unknown[]> = {};
  for (const registration of registrations) {
    const { event, matcher } = registration;
    hooks[event] ??= [];
    const end = event === 'SessionStart' ? through : '';
    const hook = hookFor(registration, `'${shim}'`);
    const command = 'command' in hook ? `(${hook.command})${end}` : '';
    hooks[event].push({ ...(matcher === undefined ? {} : { matcher }), hooks: [{ ...hook, command }] });
  }
  return { hooks };
}
