import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { commandName, recordCommandName } from '../../command-name.ts';
import { listWorkflows, needsTrust } from '../../definition/index.ts';
import { capitalized, count, printable } from '../../messages/index.ts';
import { type HostSetup, isSetupRefusal, type LocalRuntime, type SetupContext } from '../../runtime/index.ts';
import { requireOwnFolders } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, notFound } from '../exit.ts';
import type { Io } from '../io.ts';
import { fitted, paint, printWrapped } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime } from '../run-options.ts';
import { version } from '../version.ts';
import { commandRows } from '../view/command-rows.ts';
import { symbolsFor } from '../view/symbols.ts';
import { inspectStaged, pluginLink, stage } from './copy-plugin.ts';
import {
  type HostPlan,
  isDone,
  planHosts,
  setupContext,
  setupOptions,
  setupsNamed,
  showHost,
} from './hosts.ts';
import { projectFiles, updatedGo } from './project-files.ts';
import { schemaIn } from './schema-line.ts';
import { type TestResult, testCommandsFor, testResultText, tryTestCommand } from './try-test-command.ts';

export const options = { ...setupOptions, test: { type: 'string' } } as const;

interface Plan {
  /** `update`: a file that an earlier version has written. */
  write: { file: string; text: string; update?: true }[];
  keep: string[];
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const wanted = await setupsNamed(values.host);
  const runtime = openRuntime(io, values);
  const root = runtime.project.worktree;
  requireOwnFolders({ ...runtime.project, root, directory: join(root, '.stepfast') }, ['workflows']);
  const tests = await testCommandsFor(root, values, io);
  const plan = planFor(runtime, projectFiles(tests, schemaIn(root)));
  const context = setupContext(runtime, io);
  const setup = { team: values.team ?? false, plugin: pluginLink(context.state), version: version() };
  const hosts = await planHosts(wanted, context, setup);
  const current = hosts.plans.length === 0 || inspectStaged(context.state).current;
  const shown = (file: string): string => relative(root, file);
  const report = { root, test: tests[0] ?? null, kept: plan.keep.map(shown) };
  const open = hosts.plans.filter((each) => !isSetupRefusal(each.plan) && !(isDone(each) && current));
  const refused = hosts.plans.filter(({ plan: one }) => isSetupRefusal(one));
  if (plan.write.length === 0 && open.length === 0) {
    if (!values.json) for (const each of refused) showHost(each, io);
    const code = refused.length > 0 ? exit.no : exit.ok;
    if (values.json)
      return printJson(io, { ...report, written: [], hosts: hostsJson(hosts.plans, []) }, code);
    io.stdout.write(`Already set up: ${plan.keep.map(shown).join(', ')}\n`);
    printHosts({ ...hosts, plans: hosts.plans.filter(isDone) }, 'already', io);
    printFailures(refused, io);
    return code;
  }
  const tested = await tryTests(plan, tests[0]?.command, values.yes || io.stdin.terminal, root, io);
  if (!values.json) {
    show(plan, root, io);
    for (const each of hosts.plans) showHost(each, io, current ? undefined : dirname(setup.plugin));
  }
  const names = plan.write.map(({ file }) => shown(file));
  const confirmation = askFor(names, open);
  if (!values.yes && !io.stdin.terminal) {
    const message = `${confirmation.would}: ${[...names, ...open.flatMap(({ plan: one }) => ('commands' in one ? one.commands : []))].join(', ')}`;
    return printRefusal(
      { code: 'not_confirmed', message, next: `confirm with: ${commandName()} init --yes` },
      io,
      values,
    );
  }
  if (!values.yes && !(await confirm(io, confirmation.question))) return printDeclined(io, values);
  const written = plan.write.filter(({ file, text, update }) => write(file, text, update));
  const writtenNames = written.map(({ file }) => shown(file));
  const trusted = trustWritten(written, io, values);
  const results = await installHosts(open, context);
  const failures = [...refused, ...results].filter(({ plan: one }) => isSetupRefusal(one));
  const code = failures.length > 0 ? exit.no : exit.ok;
  if (values.json)
    return printJson(
      io,
      { ...report, tested, written: writtenNames, trusted, hosts: hostsJson(hosts.plans, results) },
      code,
    );
  for (const each of results.filter(({ plan: one }) => isSetupRefusal(one))) showHost(each, io);
  if (writtenNames.length > 0) done(writtenNames, tests[0]?.command, io);
  printHosts(
    { plans: results.filter(({ plan: one }) => !isSetupRefusal(one)), missing: hosts.missing },
    'now',
    io,
  );
  printFailures(failures, io);
  nextSteps(
    results.filter(({ plan: one }) => !isSetupRefusal(one)).map(({ setup: one }) => one),
    io,
  );
  return code;
}

/** Only where a workflow with the command is about to be written. */
async function tryTests(
  { write: files }: Plan,
  command: string | undefined,
  mayRun: boolean,
  root: string,
  io: Io,
): Promise<TestResult | undefined> {
  const writesGo = files.some(({ file }) => file.endsWith('go.yaml'));
  if (command === undefined || !writesGo || !mayRun) return undefined;
  const tested = await tryTestCommand(command, root, io);
  const look = tested.is === 'passes' ? 'green' : 'yellow';
  io.stderr.write(`${paint(io.stderr, look, printable(testResultText(command, tested)))}\n\n`);
  return tested;
}

/** Copies the plugin, then installs it in one host after the other. */
async function installHosts(open: readonly HostPlan[], { state }: SetupContext): Promise<HostPlan[]> {
  if (open.length > 0) recordCommandName(dirname(stage(state).plugin));
  const results: HostPlan[] = [];
  for (const each of open) {
    const refusal = isSetupRefusal(each.plan) ? each.plan : await each.plan.perform();
    results.push({ ...each, plan: refusal ?? each.plan });
  }
  return results;
}

function askFor(names: readonly string[], hosts: readonly HostPlan[]): { question: string; would: string } {
  const files = names.length > 0 ? count(names.length, 'file') : '';
  const titles = listedTitles(
    hosts.map(({ setup }) => setup),
    'and',
  );
  const both = [files && `write ${files}`, titles && `set up ${titles}`].filter(Boolean).join(' and ');
  const would = [files && `${files} would be written`, titles && `${titles} would be set up`]
    .filter(Boolean)
    .join(' and ');
  return { question: `${capitalized(both)}?`, would };
}

const hostsJson = (plans: readonly HostPlan[], results: readonly HostPlan[]): object[] =>
  plans.map((each) => {
    const { setup, found, plan } = results.find((one) => one.setup === each.setup) ?? each;
    if (isSetupRefusal(plan)) return { host: setup.name, ...found, refused: plan };
    const { commands, edits, notes } = plan;
    return { host: setup.name, ...found, commands, edits, notes };
  });

/** Never overwrites a file of another author, and never shadows an existing workflow named `go`. */
function planFor({ project, searchPath }: LocalRuntime, files: Record<string, string>): Plan {
  const plan: Plan = { write: [], keep: [] };
  const own = searchPath.filter(({ kind }) => kind === 'project');
  const go = listWorkflows(own).find(({ name }) => name === 'go')?.file;
  for (const [name, text] of Object.entries(files)) {
    const file = join(project.worktree, '.stepfast', ...name.split('/'));
    const there = name.startsWith('workflows/') && go !== undefined ? go : file;
    const update = existsSync(there) ? updatedGo(readFileSync(there, 'utf8')) : undefined;
    if (update !== undefined) plan.write.push({ file: there, text: update, update: true });
    else if (existsSync(there)) plan.keep.push(there);
    else plan.write.push({ file, text });
  }
  return plan;
}

function show({ write: files, keep }: Plan, root: string, io: Io): void {
  const out = (text: string): void => io.stderr.write(`${text}\n`);
  for (const { file, text } of files) {
    out(`${paint(io.stderr, 'green', '+')} ${paint(io.stderr, 'bold', relative(root, file))}`);
    const shown = text
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`.trimEnd());
    for (const line of shown.flatMap((each) => fitted(each, io.stderr))) out(paint(io.stderr, 'dim', line));
    out('');
  }
  for (const file of keep) out(`${paint(io.stderr, 'dim', '=')} ${relative(root, file)}  unchanged`);
  if (keep.length > 0) out('');
}

/** Returns false if a concurrent init has already written the file. */
function write(file: string, text: string, update = false): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: update ? 'w' : 'wx' });
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST' && isFile(file)) return false;
    throw notFound(`Cannot write ${file}: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;

/** Trusts only the workflow that this init wrote. */
function trustWritten(
  files: Plan['write'],
  io: Io,
  values: Parameters<typeof openRuntime>[1],
): string | null {
  if (files.length === 0) return null;
  const runtime = openRuntime(io, values);
  const { definition, file } = runtime.resolve('go');
  const ours = files.some((each) => each.file === file);
  if (!ours || !needsTrust(definition)) return null;
  return runtime.trust.give(definition, { now: io.now(), by: 'init' }).hash;
}

function done(names: readonly string[], command: string | undefined, io: Io): void {
  const { done: sign } = symbolsFor(io);
  const checked =
    command === undefined
      ? `No test command was found: results are marked unverified until you add one to .stepfast/workflows/go.yaml. To set it now: ${commandName()} init --test "npm test"`
      : `Work counts as done when ${paint(io.stdout, 'bold', printable(command))} passes.`;
  printWrapped(
    `${paint(io.stdout, 'green', sign)} ${count(names.length, 'file')} written. ${checked}`,
    io.stdout,
  );
}

function printHosts(
  { plans, missing }: { plans: readonly HostPlan[]; missing: readonly HostSetup[] },
  when: 'now' | 'already',
  io: Io,
): void {
  const { done: sign } = symbolsFor(io);
  for (const { setup } of plans)
    io.stdout.write(
      when === 'now'
        ? `${paint(io.stdout, 'green', sign)} Plugin installed in ${setup.title}; active from the next session.\n`
        : `Plugin installed in ${setup.title}.\n`,
    );
  if (plans.length > 0 || missing.length === 0) return;
  const titles = listedTitles(missing, 'or');
  const what = missing.length === 1 ? `${titles} was not found` : `No agent program was found (${titles})`;
  const later = missing.length === 1 ? 'it' : 'one';
  io.stdout.write(`${what} on this machine. After installing ${later}, run: ${commandName()} init\n`);
}

const listedTitles = (setups: readonly HostSetup[], word: string): string =>
  new Intl.ListFormat('en', { type: word === 'or' ? 'disjunction' : 'conjunction' }).format(
    setups.map(({ title }) => title),
  );

/** The reasons were printed above. */
function printFailures(failures: readonly HostPlan[], io: Io): void {
  const { bad } = symbolsFor(io);
  for (const { setup } of failures)
    io.stdout.write(
      `${paint(io.stdout, 'red', bad)} ${setup.title} was not set up. See above for the reason and the fix.\n`,
    );
}

function nextSteps(hosts: readonly HostSetup[], io: Io): void {
  const rows: [string, string][] =
    hosts.length > 0
      ? [
          ...hosts.map(({ go, title }): [string, string] => [
            `${go} fix the login bug`,
            `start a task in ${title}`,
          ]),
          [`${commandName()} status`, 'show the progress'],
          [`${commandName()} ui`, 'see it in the browser'],
          [`${commandName()} doctor`, 'check the installation'],
        ]
      : [
          [`${commandName()} go "fix the login bug"`, 'start a task'],
          [`${commandName()} status`, 'show the progress'],
          [`${commandName()} ui`, 'see it in the browser'],
        ];
  io.stdout.write(
    `\n${commandRows(rows, io.stdout)
      .map((row) => `  ${row}\n`)
      .join('')}`,
  );
}
