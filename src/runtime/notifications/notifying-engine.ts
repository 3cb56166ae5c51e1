import { closeSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Engine, Executed } from '../../engine/index.ts';
import type { Notification } from '../../machine/index.ts';
import {
  mayNotify,
  type Project,
  type RunnerCommand,
  startApart,
  userConfigFile,
} from '../../workspace/index.ts';
import { logNotification } from './log.ts';
import { openTerminal } from './open-terminal.ts';

/** What the notifier process is handed, as JSON in this variable: other users of the machine cannot read it. */
export const requestVariable = 'STEPFAST_NOTIFICATIONS';

export interface NotifierRequest {
  /** The user's configuration. */
  config: string;
  /** The directory of this user's state. */
  state: string;
  /** Those of the project: no program in them is run. */
  worktrees: string[];
  notifications: Notification[];
}

interface NotifyingOptions {
  project: Project;
  env: Readonly<Record<string, string | undefined>>;
  home?: string | undefined;
  state: string;
  notifier: RunnerCommand;
}

const mostAtOnce = 20;
const mostCharacters = 2000;

/**
 * Wraps an engine: what a change of this process is to tell the user is handed to a process of its own, after it is
 * stored. The call does not wait for it and never fails by it.
 */
export function withNotifications(engine: Engine, options: NotifyingOptions): Engine {
  return {
    ...engine,
    begin: async (...given) => notified(await engine.begin(...given), options),
    execute: async (...given) => notified(await engine.execute(...given), options),
  };
}

function notified(executed: Executed, options: NotifyingOptions): Executed {
  const { notifications = [], changed } = executed;
  try {
    if (changed && notifications.length > 0) start(notifications, options);
  } catch (error) {
    failed(options.state, error);
  }
  return executed;
}

function start(notifications: readonly Notification[], options: NotifyingOptions): void {
  const { project, env, home = homedir(), state, notifier } = options;
  const config = userConfigFile(home, env);
  const worktrees = [project.root, project.worktree];
  if (!mayNotify(config, worktrees, home)) return;
  const cut = notifications.slice(0, mostAtOnce).map(shortened);
  const request: NotifierRequest = { config, state, worktrees, notifications: cut };
  const terminal = openTerminal();
  try {
    const child = startApart(notifier.program, notifier.args, {
      // A relative path in the user's command is never one of the repository.
      cwd: home,
      env: { ...env, [requestVariable]: JSON.stringify(request) },
      // The detached process has no terminal of its own to ring.
      stdio: ['ignore', 'ignore', 'ignore', terminal ?? 'ignore'],
    });
    child.on('error', (error) => failed(state, error));
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
}

const failed = (state: string, error: unknown): void =>
  logNotification(state, {
    now: Date.now(),
    via: 'notifier',
    ok: false,
    problem: error instanceof Error ? error.message : String(error),
  });

function shortened({ text, summary, ...rest }: Notification): Notification {
  return {
    ...rest,
    ...(text === undefined ? {} : { text: text.slice(0, mostCharacters) }),
    ...(summary === undefined ? {} : { summary: summary.slice(0, mostCharacters) }),
  };
}
