import { serveMcp } from '../../mcp/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { version } from '../version.ts';

export const options = {
  'repo-root': { type: 'string' },
  worktree: { type: 'string' },
  'workflow-path': { type: 'string' },
  'tools-only': { type: 'boolean' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  await serveMcp({
    cwd: io.cwd,
    env: io.env,
    home: io.home,
    version: version(),
    runner: { program: process.execPath, args: [io.main, 'gate-runner'] },
    notifier: { program: process.execPath, args: [io.main, 'notifier'] },
    worktree: values.worktree,
    repoRoot: values['repo-root'],
    workflowPath: values['workflow-path'],
    toolsOnly: values['tools-only'],
  });
  // The client has disconnected, so pending calls are dropped.
  return process.exit(exit.ok);
}
