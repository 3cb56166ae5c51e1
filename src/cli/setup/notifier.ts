import { isatty } from 'node:tty';
import { withoutAgentVariables } from '../../hosts/index.ts';
import {
  deliverNotification,
  logNotification,
  type NotifierRequest,
  requestVariable,
} from '../../runtime/index.ts';
import { readNotifyConfig } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';

/** Where the process that changed the run hands over its terminal. */
const terminalFile = 3;

/** Nobody waits for this process: what fails is in the log, for `doctor`. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  readArgs(args, {}, { max: 0 });
  const { [requestVariable]: given, ...env } = io.env;
  if (given === undefined) return exit.usage;
  // Written by `withNotifications`.
  const { config, state, worktrees, notifications } = JSON.parse(given) as NotifierRequest;
  try {
    const ways = readNotifyConfig(config);
    const terminal = isatty(terminalFile) ? terminalFile : undefined;
    const options = { env: withoutAgentVariables(env), home: io.home, worktrees, terminal };
    for (const notification of ways ? notifications : [])
      for (const delivered of await deliverNotification(notification, ways ?? {}, options))
        logNotification(state, { now: io.now(), ...delivered });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    logNotification(state, { now: io.now(), via: 'notifier', ok: false, problem });
  }
  return exit.ok;
}
