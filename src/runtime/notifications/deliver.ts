import { writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { redactSecrets } from '../../context/index.ts';
import { runCommand } from '../../evidence/index.ts';
import type { Notification } from '../../machine/index.ts';
import { notificationText, printable } from '../../messages/index.ts';
import { isInside, type NotifyConfig } from '../../workspace/index.ts';
import type { LoggedNotification } from './log.ts';

export interface DeliverOptions {
  /** Without the variables of agents. */
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  /** Those of the project: no program in them is run. */
  worktrees: readonly string[];
  /** A file descriptor; undefined where there is no terminal. */
  terminal: number | undefined;
  commandMs?: number;
  webhookMs?: number;
}

/** How one way of notifying went; a bell without a terminal is left out. */
export type Delivered = Pick<LoggedNotification, 'via' | 'ok' | 'problem'>;

/** What a command gets in variables, and a webhook as JSON. */
export interface NotificationFacts {
  event: string;
  kind: string;
  run: string;
  workflow: string;
  summary: string;
  position: string;
  reason: string;
}

const tailCharacters = 200;

/** All ways at once, so that one that hangs does not delay the others. Never throws. */
export async function deliverNotification(
  notification: Notification,
  { bell, command, webhook }: NotifyConfig,
  options: DeliverOptions,
): Promise<Delivered[]> {
  const facts = await factsOf(notification);
  const ways: Promise<Delivered | undefined>[] = [];
  if (bell) ways.push(attempt('bell', async () => ring(options.terminal)));
  if (command !== undefined) ways.push(attempt('command', () => runWith(command, facts, options)));
  if (webhook !== undefined) ways.push(attempt('webhook', () => post(webhook, facts, options)));
  return (await Promise.all(ways)).filter((each) => each !== undefined);
}

/** Texts of the agent without secrets, each on one line. */
async function factsOf(notification: Notification): Promise<NotificationFacts> {
  const { event, kind, run, workflow, summary = '', position = '' } = notification;
  const clean = async (text: string): Promise<string> => printable((await redactSecrets(text)).text);
  return {
    event,
    kind,
    run,
    workflow: printable(workflow),
    summary: await clean(summary),
    position: printable(position),
    reason: await clean(notificationText(notification)),
  };
}

/** `act` returns a problem, or false where there was nothing to do. */
async function attempt(
  via: Delivered['via'],
  act: () => Promise<string | undefined | false>,
): Promise<Delivered | undefined> {
  try {
    const problem = await act();
    if (problem === false) return undefined;
    return problem === undefined ? { via, ok: true } : { via, ok: false, problem };
  } catch (error) {
    return { via, ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function ring(terminal: number | undefined): undefined | false {
  if (terminal === undefined) return false;
  writeSync(terminal, '\u0007');
}

async function runWith(
  command: string,
  facts: NotificationFacts,
  { env, home, worktrees, commandMs = 30_000 }: DeliverOptions,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'stepfast-notify-'));
  try {
    const { exit, timedOut, tail } = await runCommand({
      command,
      cwd: home,
      env: variablesFor(facts, env, worktrees),
      timeoutMs: commandMs,
      log: join(folder, 'output'),
    });
    if (timedOut) return `was stopped after ${Math.round(commandMs / 1000)} s`;
    return exit === 0
      ? undefined
      : `exit ${exit ?? 'by a signal'}: ${printable(tail.trim()).slice(-tailCharacters)}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Facts are data in variables, never part of the command's text. */
function variablesFor(
  facts: NotificationFacts,
  env: DeliverOptions['env'],
  worktrees: readonly string[],
): Record<string, string> {
  const own = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const told = Object.entries(facts).map(([name, value]) => [`STEPFAST_${name.toUpperCase()}`, value]);
  return {
    ...Object.fromEntries(own),
    PATH: pathOutside(env.PATH ?? '', worktrees),
    ...Object.fromEntries(told),
  };
}

/** `npx` puts programs of the repository on the PATH. */
const pathOutside = (path: string, worktrees: readonly string[]): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !worktrees.some((each) => isInside(each, folder)))
    .join(delimiter);

/** Follows no redirect: the facts go to the address that the user wrote, and nowhere else. */
async function post(
  url: string,
  facts: NotificationFacts,
  { webhookMs = 10_000 }: DeliverOptions,
): Promise<string | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'stepfast' },
    body: JSON.stringify(facts),
    redirect: 'manual',
    signal: AbortSignal.timeout(webhookMs),
  });
  await response.body?.cancel();
  if (response.ok) return undefined;
  return response.status >= 300 && response.status < 400
    ? `answered ${response.status}: redirects are not followed`
    : `answered ${response.status}`;
}
