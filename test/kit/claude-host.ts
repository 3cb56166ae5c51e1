/** The pinned Claude Code with a scripted model. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHost } from '../../src/hosts/process.ts';
import { createScriptedModel, createTestProject, nearlyFull, reply } from '../../src/testing/index.ts';
import { claudeCommand } from './claude.ts';
import type { HostSession, HostStage, SessionHost } from './host-stage.ts';

const allowed = ['Bash', 'Read', 'Write', 'Edit', 'mcp__plugin_stepfast_stepfast'];

/** One process for all prompts of a session. */
async function openSession({ project, env }: HostStage, resume?: string): Promise<HostSession> {
  const id = resume ?? randomUUID();
  const stream = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  const session = resume === undefined ? ['--session-id', id] : ['--resume', id];
  const host = await startHost({
    program: 'claude',
    title: 'Claude Code',
    args: ['-p', '--verbose', ...stream, ...session, '--allowedTools', allowed.join(',')],
    env,
    cwd: project.root,
  });
  let over = (): void => {};
  host.onLine((line) => {
    if (line.includes('"type":"result"')) over();
  });
  const send = async (content: string): Promise<void> => {
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    host.write({ type: 'user', message: { role: 'user', content } });
    await Promise.race([ended, host.finished]);
  };
  return { id, send, compact: async () => await send('/compact'), end: async () => await host.end(10_000) };
}

export const claudeHost: SessionHost = {
  name: 'claude-code',
  program: 'claude',
  settings: {
    '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash', 'Read', 'Write', 'Edit'] } }),
  },
  asks: { cannot: 'WebFetch' },
  unlimited: 'bypassPermissions',
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
  open: openSession,
  personFiles: ({ project }) => [join(project.root, '.claude', 'settings.json')],
  command: (words) => `/stepfast:${words}`,
  read: (file, project) => reply.tool('Read', { file_path: join(project, file) }),
  write: (file, text, project) =>
    reply.tool('Write', { file_path: join(project, file), content: `${text}\n` }),
  nearlyFull,
  afterCompaction: 'next request',
};
