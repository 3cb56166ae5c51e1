import { hostProcess, runHook } from '../../hooks/index.ts';
import { checkTool, hostNamed, hosts, withoutAgentVariables } from '../../hosts/index.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';

export const options = { host: { type: 'string' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'event' });
  const host = hostNamed(values.host);
  if (!host) throw usageError(`--host takes one of: ${hosts.map(({ name }) => name).join(', ')}.`);
  const environment = {
    env: io.env,
    commandEnv: withoutAgentVariables(io.env),
    home: io.home,
    now: io.now,
    pid: hostProcess(),
    program: io.main,
    checkTool,
  };
  const { stdout, stderr } = await runHook(host, positionals[0] ?? '', await io.stdin.all(), environment);
  if (stdout !== '') io.stdout.write(stdout);
  if (stderr !== '') io.stderr.write(stderr);
  return exit.ok;
}
