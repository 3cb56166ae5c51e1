import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { count, printable, wrap } from '../../messages/index.ts';
import type { Check, HostSetup, LocalRuntime, SetupContext } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import { type Io, wrapWidth } from '../io.ts';
import { type Format, paint } from '../paint.ts';
import { printJson } from '../perform.ts';
import { withProgress } from '../progress.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { version } from '../version.ts';
import { symbolsFor } from '../view/symbols.ts';
import { checkMcp } from './check-mcp.ts';
import { checkNotifications } from './check-notifications.ts';
import { checkServer } from './check-server.ts';
import { checkCommand, checkFileSystem, checkNode, checkProject } from './checks-project.ts';
import { checkHooks, checkRuns } from './checks-runs.ts';
import { packageRoot, pluginLink } from './copy-plugin.ts';
import { findHosts, setupContext, setupsNamed } from './hosts.ts';

export const options = { ...projectOptions, live: { type: 'boolean' } } as const;

const serverTimeoutMs = 5_000;

interface Section {
  title: string;
  checks: Check[];
}

/** Reports problems. The only fix it applies is restoring marks. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const sections: Section[] = [
    { title: 'This machine', checks: [checkNode(), checkCommand(commandName(), io.env)] },
  ];
  const runtime = tryOpen(io, values);
  if ('problem' in runtime) {
    const wrong: Check = {
      what: 'project',
      state: 'wrong',
      says: runtime.problem,
      next: `fix it, then run ${commandName()} doctor again`,
    };
    sections.push({ title: 'Project', checks: [wrong] });
    return print(sections, io, values);
  }
  sections[0]?.checks.push(...checkNotifications(runtime, io));
  const context = setupContext(runtime, io);
  const server = await checkServer(runtime, io.env);
  // Without the server, its runs cannot be checked.
  const serverDown = server.some(({ state }) => state === 'wrong');
  const [runs, hosts, hooks, mcp] = await Promise.all([
    serverDown ? [] : checkRuns(runtime, io.now()),
    hostSections(context),
    serverDown ? [] : checkHooks(runtime, io.now()),
    checkMcp(serverProgram(context, io), { cwd: context.root, env: io.env }),
  ]);
  sections.push(
    { title: 'Project', checks: [...checkProject(runtime), ...checkFileSystem(runtime.project.directory)] },
    ...(server.length > 0 ? [{ title: 'Server', checks: server }] : []),
    ...(serverDown ? [] : [{ title: 'Runs', checks: runs }]),
    ...hosts,
    { title: 'Hooks and MCP', checks: [...hooks, mcp] },
  );
  if (values.live) sections.push(...(await liveSections(context, io)));
  return print(sections, io, values);
}

function tryOpen(io: Io, values: Parameters<typeof openRuntime>[1]): LocalRuntime | { problem: string } {
  try {
    return openRuntime(io, values, { patienceMs: serverTimeoutMs });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The program that hosts start. */
function serverProgram({ state }: SetupContext, { main }: Io): string {
  const staged = join(pluginLink(state), 'dist', 'cli.js');
  return existsSync(staged) ? staged : main;
}

async function hostSections(context: SetupContext): Promise<Section[]> {
  const hosts = await findHosts(await setupsNamed(undefined), context);
  if (hosts.every(({ found }) => !found)) return [noHost(hosts.map(({ setup }) => setup))];
  return await Promise.all(
    hosts.flatMap(({ setup, found }) =>
      found
        ? [setup.check(found, context, version()).then((checks) => ({ title: setup.title, checks }))]
        : [],
    ),
  );
}

/** Uses the staged plugin that the host loads, or this package. */
async function liveSections(context: SetupContext, io: Io): Promise<Section[]> {
  const hosts = await findHosts(await setupsNamed(undefined), context);
  const staged = pluginLink(context.state);
  const plugin = existsSync(staged) ? staged : packageRoot();
  const sections: Section[] = [];
  // Without any host, the hooks of the first are tried by themselves.
  const tried = hosts.some(({ found }) => found) ? hosts.filter(({ found }) => found) : hosts.slice(0, 1);
  for (const { setup, found } of tried)
    sections.push({
      title: `${setup.title}, live`,
      checks: await withProgress(io, `trying ${setup.title}`, setup.live(found, plugin, io.env)),
    });
  return sections;
}

const noHost = (setups: readonly HostSetup[]): Section => ({
  title: 'Agents',
  checks: [
    {
      what: setups.map(({ title }) => title).join(', '),
      state: 'note',
      says: 'not found on PATH',
      next: `install one, then: ${commandName()} init`,
    },
  ],
});

function print(sections: readonly Section[], io: Io, values: { json?: boolean | undefined }): number {
  const all = sections.flatMap(({ checks }) => checks);
  const wrong = all.filter(({ state }) => state === 'wrong').length;
  const code = wrong > 0 ? exit.no : exit.ok;
  if (values.json) return printJson(io, { ok: wrong === 0, sections }, code);
  const symbols = symbolsFor(io);
  const look: Record<Check['state'], [Format, string]> = {
    ok: ['green', symbols.done],
    note: ['yellow', symbols.waits],
    wrong: ['red', symbols.bad],
  };
  for (const { title, checks } of sections) {
    io.stdout.write(`${paint(io.stdout, 'bold', title)}\n`);
    for (const { what, state, says, next } of checks) {
      const [format, sign] = look[state];
      const text = what === title ? says : `${what}: ${says}`;
      const [first = '', ...more] = wrap(printable(text), wrapWidth(io.stdout) - 4);
      io.stdout.write(`  ${paint(io.stdout, format, sign)} ${first}\n`);
      for (const line of more) io.stdout.write(`    ${line}\n`);
      if (next !== undefined)
        io.stdout.write(
          `    ${paint(io.stdout, 'dim', 'next:')} ${paint(io.stdout, 'cyan', printable(next))}\n`,
        );
    }
  }
  io.stdout.write(
    wrong === 0
      ? `\n${paint(io.stdout, 'green', 'No problems found.')}\n`
      : `\n${paint(io.stdout, 'red', `${count(wrong, 'problem')} found.`)}\n`,
  );
  return code;
}
