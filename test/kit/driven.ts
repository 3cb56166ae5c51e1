/** Sessions of the pinned Claude Code as the driver opens them, with a scripted model. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/cli/index.ts';
import { hostNamed } from '../../src/hosts/index.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../src/runtime/index.ts';
import {
  createScriptedModel,
  createTestProject,
  type ScriptedModel,
  type TestProject,
} from '../../src/testing/index.ts';
import { claudeCommand } from './claude.ts';

export interface DrivenProject {
  project: TestProject;
  model: ScriptedModel;
  driver: HostDriver;
  /** Of the person, with the host on its PATH. */
  env: Record<string, string>;
  events: HostEvent[];
  open(options?: Partial<DrivenOptions>): Promise<DrivenSession>;
  /** Runs `claude` with these arguments. */
  claude(...args: string[]): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function createDrivenProject(files: Record<string, string> = {}): Promise<DrivenProject> {
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
  const env = { ...command.env, PATH: `${bin}:${command.env.PATH}` };
  const driver = await hostNamed('claude-code')?.driver?.();
  if (!driver) throw new Error('There is no driver.');
  const events: HostEvent[] = [];
  const sessions: DrivenSession[] = [];
  return {
    project,
    model,
    driver,
    env,
    events,
    open: async (options) => {
      const session = await driver.open({
        cwd: project.root,
        env,
        command: [process.execPath, join(packageRoot(), 'dist', 'cli.js')],
        plugin: packageRoot(),
        onEvent: (event) => events.push(event),
        ...options,
      });
      sessions.push(session);
      return session;
    },
    claude: (...args) =>
      void execFileSync(join(bin, 'claude'), args, {
        cwd: project.root,
        env,
        stdio: 'pipe',
        timeout: 120_000,
      }),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) await session.end(0);
      await model[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}
