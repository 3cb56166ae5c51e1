import { withoutAgentVariables } from '../../hosts/index.ts';
import type { Notification } from '../../machine/index.ts';
import { printable } from '../../messages/index.ts';
import { deliverNotification, logNotification, openTerminal } from '../../runtime/index.ts';
import {
  findProject,
  mayNotify,
  readNotifyConfig,
  stateDirectory,
  userConfigFile,
} from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit, notFound } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson } from '../perform.ts';
import { symbolsFor } from '../view/symbols.ts';

export const options = { json: { type: 'boolean' } } as const;

const sample: Notification = {
  event: 'waiting',
  kind: 'review',
  run: 'test-20260101-testtest',
  workflow: 'test',
  summary: 'A test notification of Stepfast',
  position: 'test',
};

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const file = userConfigFile(io.home, io.env);
  const { root, worktree } = findProject(io.cwd);
  const worktrees = [root, worktree];
  const config = mayNotify(file, worktrees, io.home) ? readNotifyConfig(file) : undefined;
  if (!config) throw notFound(`${file} has no 'notify'. Add for instance: notify: { bell: true }`);
  const terminal = openTerminal();
  const env = withoutAgentVariables(io.env);
  const delivered = await deliverNotification(sample, config, { env, home: io.home, worktrees, terminal });
  const state = stateDirectory(io);
  for (const each of delivered) logNotification(state, { now: io.now(), ...each });
  const code = delivered.every(({ ok }) => ok) ? exit.ok : exit.no;
  if (values.json) return printJson(io, { config: file, delivered }, code);
  const symbols = symbolsFor(io);
  for (const { via, ok, problem } of delivered) {
    const sign = ok ? paint(io.stdout, 'green', symbols.done) : paint(io.stdout, 'red', symbols.bad);
    io.stdout.write(`${sign} ${via}${problem === undefined ? '' : `: ${printable(problem)}`}\n`);
  }
  if (config.bell && terminal === undefined) io.stdout.write('  bell: no terminal here\n');
  return code;
}
