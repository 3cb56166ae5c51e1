import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../cli/index.ts';
import { createScriptedModel, type ScriptedModel } from '../model/scripted-model.ts';
import { createTestProject } from '../project.ts';
import type { ProjectKit } from '../project-kit.ts';
import { type ClaudeOptions, commonTools } from './command.ts';
import { type ClaudeRun, type RunOptions, runClaude } from './run.ts';
import { type ClaudeSession, type SessionOptions, startClaude } from './session.ts';

type Given<T> = Omit<T, 'cwd' | 'home' | 'model'> & { cwd?: string };

/** A project in which the real Claude Code works with Stepfast, driven by a scripted model. */
export interface ClaudeProject {
  project: ProjectKit;
  /** The host's home. */
  home: string;
  model: ScriptedModel;
  /** Starts the host, sends the prompts one after the other and ends it. */
  run(options: Given<RunOptions>): Promise<ClaudeRun>;
  /** Starts the host and keeps it running, for what happens between prompts. */
  open(options?: Given<SessionOptions>): Promise<ClaudeSession>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Without `settings` and `mcp`, Stepfast is loaded as a plugin, as users have it. */
export type ClaudeProjectOptions = Pick<ClaudeOptions, 'program' | 'settings' | 'mcp'>;

/**
 * Creates a temporary project, a scripted model and a home for the host.
 *
 * @example
 * ```ts
 * import { createClaudeProject, lastUser, reply, toolCall } from 'stepfast/testing';
 *
 * await using claude = await createClaudeProject({
 *   '.stepfast/workflows/fix.yaml':
 *     'name: fix\ndescription: Fix a bug\nsteps: [{ id: fix, type: action, instructions: Fix it. }]\n',
 * });
 * claude.model.on(
 *   lastUser(/fix the bug/),
 *   toolCall.start('fix'),
 *   toolCall.bash('echo fixed > bug.txt'),
 *   toolCall.advance('The bug is fixed.'),
 *   reply.text('Done.'),
 * );
 * await claude.run({ prompts: ['fix the bug'] });
 * const run = await claude.project.onlyRun();
 * console.log((await run.state()).status);
 * ```
 */
export async function createClaudeProject(
  files: Record<string, string>,
  { program, settings, mcp }: ClaudeProjectOptions = {},
): Promise<ClaudeProject> {
  const project = createTestProject(files);
  const home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  const model = await createScriptedModel();
  const common = {
    cwd: project.root,
    // One user: what the project's user trusts, the host's hooks trust.
    env: { XDG_STATE_HOME: join(project.env.HOME ?? '', '.local', 'state') },
    home,
    model,
    program,
    ...(settings === undefined && mcp === undefined ? asPlugin() : { settings, mcp }),
  };
  return {
    project,
    home,
    model,
    run: (options) => runClaude({ ...common, ...options, env: { ...common.env, ...options.env } }),
    open: (options = {}) => startClaude({ ...common, ...options, env: { ...common.env, ...options.env } }),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}

const asPlugin = (): Pick<ClaudeOptions, 'pluginDir' | 'allow'> => ({
  pluginDir: packageRoot(),
  allow: [...commonTools, 'mcp__plugin_stepfast_stepfast'],
});
