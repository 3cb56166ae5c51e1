/** The host runner of `stepfast/testing` with the pinned Claude Code. */
import { hostBinary } from '../../scripts/install-hosts.ts';
import * as testing from '../../src/testing/index.ts';

type Pinned<T extends { program?: string | undefined }> = Omit<T, 'program'>;

const pinned = async <T extends object>(options: T): Promise<T & { program: string }> => ({
  ...options,
  program: await hostBinary('claude'),
});

export const claudeCommand = async (options: Pinned<testing.ClaudeOptions>): Promise<testing.ClaudeCommand> =>
  await testing.claudeCommand(await pinned(options));

export const startClaude = async (options: Pinned<testing.SessionOptions>): Promise<testing.ClaudeSession> =>
  await testing.startClaude(await pinned(options));

export const runClaude = async (options: Pinned<testing.RunOptions>): Promise<testing.ClaudeRun> =>
  await testing.runClaude(await pinned(options));

export const createClaudeProject = async (
  files: Record<string, string>,
  options: Pinned<testing.ClaudeProjectOptions> = {},
): Promise<testing.ClaudeProject> => await testing.createClaudeProject(files, await pinned(options));
