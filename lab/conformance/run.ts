/**
 * Third-party tests of the MCP server: the conformance suite against the stdio server (through an HTTP bridge) and the
 * team server, and the Inspector against `stepfast mcp`. Both are installed once outside the checkout, in
 * STEPFAST_CI_CACHE or ~/.cache/stepfast-ci.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { hashDefinition } from '../../src/definition/index.ts';
import { createEngine, newRun } from '../../src/engine/index.ts';
import { createMcpHttp } from '../../src/mcp/http.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { runtimeWithoutFiles } from '../../test/kit/runtime-without-files.ts';
import { type Served, serveOverHttp, serveRequests } from '../../test/mcp/http-bridge.ts';

const root = join(import.meta.dirname, '..', '..');
const packages = { conformance: '0.1.16', inspector: '2.12.0' };

const own = (what: string) => `asks for the suite's own ${what}`;
const notOffered = (what: string) => `the server offers no ${what}`;
/** Scenarios that only the suite's own example server can pass, and why. */
const notApplicable: Record<string, string> = {
  'logging-set-level': notOffered('logging, which the protocol has deprecated'),
  'completion-complete': notOffered('completions'),
  'resources-subscribe': notOffered('subscriptions'),
  'resources-unsubscribe': notOffered('subscriptions'),
  'json-schema-2020-12': own('tool json_schema_2020_12_tool'),
  'resources-read-text': own('resource test://static-text'),
  'resources-read-binary': own('resource test://static-binary'),
  'resources-templates-read': own('resource test://template/{id}/data'),
  'elicitation-sep1034-defaults': notOffered('elicitation'),
  'elicitation-sep1330-enums': notOffered('elicitation'),
  'server-sse-polling': 'tests an HTTP transport that keeps streams; nothing is kept here',
  'dns-rebinding-protection': 'tests the Host check, which stands before MCP',
};
const ownExamples = [/^tools-call-/, /^prompts-get-/];

interface Outcome {
  name: string;
  problem?: string;
}

ensureBuilt();
const cache = install();
const directory = mkdtempSync(join(tmpdir(), 'stepfast-conformance-'));
try {
  const project = prepare(directory);
  const skipped: string[] = [];
  const targets = { stdio: await bridgeTo(project), server: await serveTeam() };
  const suites: Outcome[] = [];
  for (const [target, served] of Object.entries(targets)) {
    suites.push(...(await runSuite(target, served, project, skipped)));
    served.close();
  }
  const outcomes = [...suites, ...(await runInspector(project))];
  const failed = outcomes.filter(({ problem }) => problem !== undefined);
  for (const { name, problem } of outcomes)
    console.log(`${problem === undefined ? 'ok    ' : 'FAILED'}  ${name}`);
  for (const { name, problem } of failed) console.log(`\n${name}:\n${problem}`);
  const result = {
    passed: outcomes.length - failed.length,
    failed: failed.length,
    notApplicable: skipped.length,
  };
  console.log(JSON.stringify(result));
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function install(): string {
  const target = join(
    process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci'),
    `mcp-suites-${packages.conformance}-${packages.inspector}`,
  );
  if (existsSync(join(target, 'installed'))) return target;
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), '{"private":true}\n');
  const names = Object.entries(packages).map(([name, version]) => `@modelcontextprotocol/${name}@${version}`);
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...names], {
    cwd: target,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm failed to install ${names.join(' and ')}; see its output above.`);
  writeFileSync(join(target, 'installed'), '');
  return target;
}

interface Project {
  directory: string;
  env: NodeJS.ProcessEnv;
}

/** A project with a run, so that there is something to list. */
function prepare(base: string): Project {
  const project = join(base, 'project');
  mkdirSync(join(project, '.stepfast', 'workflows'), { recursive: true });
  writeFileSync(
    join(project, '.stepfast', 'workflows', 'plain.yaml'),
    'name: plain\ndescription: Two steps\nsteps:\n  - { id: plan, type: action, context: clear, instructions: Plan. }\n  - { id: build, type: action, instructions: Build. }\n',
  );
  return { directory: project, env: { ...process.env, XDG_STATE_HOME: join(base, 'state') } };
}

async function bridgeTo({ directory: cwd, env }: Project): Promise<Served> {
  const runner = { program: process.execPath, args: [join(root, 'dist', 'cli.js'), 'gate-runner'] };
  const runtime = () => openRuntime({ cwd, env, runner });
  return await serveOverHttp({ runtime, version: '0.0.0', session: 'mcp-conformance' });
}

async function serveTeam(): Promise<Served> {
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const mcp = createMcpHttp({
    version: '0.0.0',
    runtimeFor: (_, session) => runtimeWithoutFiles({ engine, session }),
  });
  const project = { id: 1, name: 'conformance' };
  const caller = { id: 'suite', project, kind: 'agent' as const, name: 'suite', scopes: ['read', 'write'] };
  return await serveRequests((request) => mcp(request, caller));
}

async function runSuite(
  target: string,
  served: Served,
  { directory: cwd, env }: Project,
  skipped: string[],
): Promise<Outcome[]> {
  const suite = join(cache, 'node_modules', '.bin', 'conformance');
  const listed = (await execute(suite, ['list', '--server'], { cwd, env })).output;
  const scenarios = [...listed.matchAll(/^\s+- ([\w-]+)/gm)].map(([, name = '']) => name);
  if (scenarios.length === 0) throw new Error(`The conformance suite lists no scenarios:\n${listed}`);
  const outcomes: Outcome[] = [];
  for (const scenario of scenarios) {
    const reason = Object.hasOwn(notApplicable, scenario)
      ? notApplicable[scenario]
      : ownExamples.some((pattern) => pattern.test(scenario))
        ? own('tools and prompts')
        : undefined;
    if (reason !== undefined) {
      skipped.push(scenario);
      console.log(`n/a     ${target} ${scenario}: ${reason}`);
      continue;
    }
    const args = ['server', '--url', served.url, '--scenario', scenario];
    const { status, output } = await execute(suite, args, { cwd, env });
    outcomes.push({
      name: `conformance ${target} ${scenario}`,
      ...(status === 0 ? {} : { problem: output }),
    });
  }
  return outcomes;
}

/** Each call starts its own server process; its output must contain the given words. */
async function runInspector({ directory: cwd, env }: Project): Promise<Outcome[]> {
  const inspector = join(cache, 'node_modules', '.bin', 'mcp-inspector');
  const server = [process.execPath, join(root, 'dist', 'cli.js'), 'mcp'];
  const calls: [args: string[], holds: RegExp][] = [
    [['--method', 'tools/list'], /update_todo_list/],
    [
      [
        '--method',
        'tools/call',
        '--tool-name',
        'workflow_start',
        '--tool-arg',
        'workflow=plain',
        'summary=look',
      ],
      /"contextAction": ?"\/clear"/,
    ],
    [['--method', 'tools/call', '--tool-name', 'workflow_status'], /"instructions": ?"Plan\."/],
    [
      ['--method', 'tools/call', '--tool-name', 'workflow_advance', '--tool-arg', 'output=planned'],
      /"step": ?"build"/,
    ],
    [['--method', 'resources/list'], /stepfast:\/\/runs\/plain-/],
    [['--method', 'resources/templates/list'], /\{id\}\/briefing/],
    [['--method', 'resources/read', '--uri', 'stepfast://runs'], /look/],
    [['--method', 'prompts/list'], /prime/],
    [['--method', 'prompts/get', '--prompt-name', 'prime'], /unverified/],
  ];
  const outcomes: Outcome[] = [];
  for (const [args, holds] of calls) {
    const { status, output } = await execute(inspector, ['--cli', ...server, ...args], { cwd, env });
    const good = status === 0 && holds.test(output);
    outcomes.push({
      name: `inspector ${args.join(' ')}`,
      ...(good ? {} : { problem: `exit ${status}\n${output}` }),
    });
  }
  return outcomes;
}

async function execute(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ status: number; output: string }> {
  return await new Promise((resolve) => {
    execFile(program, args, { ...options, timeout: 300_000 }, (error, stdout, stderr) => {
      const status = typeof error?.code === 'number' ? error.code : error ? 1 : 0;
      resolve({ status, output: `${stdout}${stderr}` });
    });
  });
}
