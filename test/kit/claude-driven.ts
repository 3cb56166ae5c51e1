/** Sessions of the pinned Claude Code as the driver opens them. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createScriptedModel, createTestProject, reply } from '../../src/testing/index.ts';
import { claudeCommand } from './claude.ts';
import type { DrivenHost } from './host-stage.ts';

export const claudeDrivenHost: DrivenHost = {
  name: 'claude-code',
  program: 'claude',
  settings: {
    '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash', 'Read', 'Write', 'Edit'] } }),
  },
  shell: (command, options) => reply.tool('Bash', { command, description: 'Run' }, options),
  own: (tool, input) => reply.tool(`mcp__plugin_stepfast_stepfast__${tool}`, input),
  async prepare(files) {
    const project = createTestProject({ 'a.txt': 'a', ...files });
    const model = await createScriptedModel();
    const home = join(project.root, '..', 'claude-home');
    const bin = join(home, 'bin');
    mkdirSync(bin, { recursive: true });
    const command = await claudeCommand({
      cwd: project.root,
      home,
      model,
      allow: [],
      // One user: what the project's user trusts, the host's hooks trust.
      env: { XDG_STATE_HOME: join(project.env.HOME ?? '', '.local', 'state') },
    });
    const words = [command.program, ...command.args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
    chmodSync(join(bin, 'claude'), 0o755);
    return { project, model, env: { ...command.env, PATH: `${bin}:${command.env.PATH}` } };
  },
};
