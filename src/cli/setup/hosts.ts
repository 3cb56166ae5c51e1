import { homedir } from 'node:os';
import { loadHostSetups } from '../../hosts/index.ts';
import { printable } from '../../messages/index.ts';
import {
  type FoundHost,
  type HostSetup,
  isSetupRefusal,
  type LocalRuntime,
  type SetupContext,
  type SetupOptions,
  type SetupPlan,
  type SetupRefusal,
} from '../../runtime/index.ts';
import { stateDirectory } from '../../workspace/index.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { fitted, paint } from '../paint.ts';
import { projectOptions } from '../run-options.ts';

export const setupOptions = {
  ...projectOptions,
  yes: { type: 'boolean', short: 'y' },
  team: { type: 'boolean' },
  host: { type: 'string', multiple: true },
} as const;

export interface HostPlan {
  setup: HostSetup;
  found: FoundHost;
  plan: SetupPlan | SetupRefusal;
}

export const setupContext = ({ project }: LocalRuntime, io: Io): SetupContext => ({
  root: project.worktree,
  env: io.env,
  home: io.home,
  state: stateDirectory({ env: io.env, home: io.home }),
});

/** All hosts, or the named ones; 'none' selects no host. */
export async function setupsNamed(names: readonly string[] | undefined): Promise<HostSetup[]> {
  const hostSetups = await loadHostSetups();
  if (names === undefined) return hostSetups;
  const known = hostSetups.map(({ name }) => name);
  const unknown = names.find((name) => name !== 'none' && !known.includes(name));
  if (unknown !== undefined)
    throw usageError(`Unknown host '${unknown}'. Use one of: ${known.join(', ')}, none.`);
  return hostSetups.filter(({ name }) => names.includes(name));
}

/** Looks for each host on this machine. */
export async function findHosts(
  wanted: readonly HostSetup[],
  context: SetupContext,
): Promise<{ setup: HostSetup; found: FoundHost | undefined }[]> {
  return await Promise.all(wanted.map(async (setup) => ({ setup, found: await setup.find(context) })));
}

export async function planHosts(
  wanted: readonly HostSetup[],
  context: SetupContext,
  options: SetupOptions,
): Promise<{ plans: HostPlan[]; missing: HostSetup[] }> {
  const all = await findHosts(wanted, context);
  const plans = all.flatMap(({ setup, found }) =>
    found ? [setup.plan(found, context, options).then((plan) => ({ setup, found, plan }))] : [],
  );
  return {
    plans: await Promise.all(plans),
    missing: all.filter(({ found }) => found === undefined).map(({ setup }) => setup),
  };
}

export const isDone = ({ plan }: HostPlan): boolean =>
  !isSetupRefusal(plan) && plan.commands.length === 0 && plan.edits.length === 0;

/** Shows what a person is asked to confirm. */
export function showHost({ setup, found, plan }: HostPlan, io: Io, copiedTo?: string): void {
  const out = (text: string): void => io.stderr.write(`${text}\n`);
  const dim = (text: string): string => paint(io.stderr, 'dim', text);
  const name = `${setup.title}${found.version === undefined ? '' : ` ${found.version}`}`;
  out(paint(io.stderr, 'bold', printable(name)));
  if (isSetupRefusal(plan)) {
    for (const line of plan.message.split('\n')) out(`  ${paint(io.stderr, 'yellow', printable(line))}`);
    return out(`  ${dim('next:')} ${printable(plan.next)}\n`);
  }
  const add = (file: string, what: string): void => {
    const fits = fitted(`  + ${file}  ${what}`, io.stderr).length === 1;
    out(`  ${paint(io.stderr, 'green', '+')} ${file}${fits ? `  ${dim(what)}` : ''}`);
    if (!fits) for (const line of fitted(`      ${what}`, io.stderr)) out(dim(line));
  };
  if (copiedTo !== undefined) add(tildePath(printable(copiedTo), io), "a copy of the plugin's files");
  for (const command of plan.commands)
    for (const line of fitted(`  $ ${tildePath(printable(command), io)}`, io.stderr)) out(line);
  for (const { file, what } of plan.edits) add(printable(file), what);
  if (isDone({ setup, found, plan }) && copiedTo === undefined)
    out(`  ${dim('=')} the plugin is already installed`);
  for (const note of plan.notes) out(`  ${dim(`= ${printable(note)}`)}`);
  out('');
}

/** Abbreviates the home directory to `~`. */
export const tildePath = (text: string, { home }: Pick<Io, 'home'>): string =>
  home === '' || home === '/' || home !== homedir() ? text : text.replaceAll(`${home}/`, '~/');
