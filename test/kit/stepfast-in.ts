import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/cli/index.ts';
import type { CommandResult } from '../../src/testing/index.ts';
import type { HostStage } from './host-stage.ts';

/** Runs a command of Stepfast as a person does. */
export async function stepfastIn({ project, env }: HostStage, ...args: string[]): Promise<CommandResult> {
  return await new Promise((resolve) => {
    const main = join(packageRoot(), 'dist', 'cli.js');
    const options = { cwd: project.root, env, timeout: 120_000 };
    execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}
