/** Stepfast's command line as a person has it, with the real host on its path and nothing of this machine's user. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostBinary } from '../../../scripts/install-hosts.ts';
import { configOf } from '../../../src/testing/claude/command.ts';
import { isolate } from '../../../src/testing/claude/network.ts';
import type { CommandResult, ScriptedModel } from '../../../src/testing/index.ts';
import { cliProgram } from '../../../src/testing/programs.ts';

export interface CommandLine {
  home: string;
  /** `path`: where the host is looked for, before the system's own folders. */
  stepfast(args: readonly string[], options?: { cwd?: string; path?: string }): Promise<CommandResult>;
}

/** `home` is made, with the host in its `bin`. */
export async function createCommandLine(
  home: string,
  cwd: string,
  model: ScriptedModel,
): Promise<CommandLine> {
  mkdirSync(join(home, 'bin'), { recursive: true });
  mkdirSync(configOf(home));
  symlinkSync(await hostBinary('claude'), join(home, 'bin', 'claude'));
  const env = (path: string): Record<string, string> => ({
    PATH: `${path}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    CLAUDE_CONFIG_DIR: configOf(home),
    ANTHROPIC_API_KEY: 'dummy-key',
    ANTHROPIC_BASE_URL: model.url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  });
  return {
    home,
    async stepfast(args, options = {}) {
      const { program, args: rest } = await isolate(model, process.execPath, [cliProgram, ...args]);
      const { path = join(home, 'bin') } = options;
      return await new Promise((resolve) => {
        execFile(program, rest, { cwd: options.cwd ?? cwd, env: env(path) }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      });
    },
  };
}

/** Every file below a folder, with its mode. */
export function picture(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file, `${statSync(file).mode.toString(8)} ${readFileSync(file, 'utf8')}`];
    }),
  );
}
