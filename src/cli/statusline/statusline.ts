import { commandName } from '../../command-name.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { statusline } from './line.ts';

export const options = {} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  readArgs(args, options, { max: 0 });
  if (io.stdin.terminal) {
    io.stderr.write(
      `Claude Code runs this command with its session data on stdin. You probably want: ${commandName()} status\n`,
    );
    return exit.ok;
  }
  io.stdout.write(await statusline(await io.stdin.all(), { env: io.env, now: io.now() }));
  return exit.ok;
}
