/** Packs the package, installs it into an empty directory and uses it as a new user would. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostBinary } from '../../scripts/install-hosts.ts';
import { createHome, removeHome } from '../../src/testing/claude/run.ts';
import {
  contextOf,
  createScriptedModel,
  forgetsAll,
  lastUser,
  reply,
  summariser,
} from '../../src/testing/index.ts';
import { claudeCommand, runClaude } from '../../test/kit/claude.ts';
import { tryLibrary } from './library.ts';

const directory = mkdtempSync(join(tmpdir(), 'stepfast-package-'));
const home = mkdtempSync(join(tmpdir(), 'stepfast-home-'));
const maxBytes = 15 * 1024 * 1024;

// Isolated from the user's own trust and configuration.
const env = { ...process.env, HOME: home, XDG_STATE_HOME: '', XDG_CONFIG_HOME: '' };

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: directory, env, encoding: 'utf8' });
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The installed package fails: ${what}.`);
  console.log(`ok  ${what}`);
}

function bytesIn(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

/** The package folder itself is a Claude Code plugin. */
async function tryPlugin(plugin: string): Promise<void> {
  const missing = await hostBinary('claude').then(
    () => undefined,
    (error: unknown) => String(error),
  );
  if (missing !== undefined) {
    must(process.env.STEPFAST_CI_SESSIONS === undefined, 'Claude Code can be installed');
    return console.log(`--  plugin skipped: ${missing}`);
  }
  const claudeHome = createHome();
  const cwd = join(claudeHome, 'a project');
  const model = await createScriptedModel();
  try {
    execFileSync('git', ['init', '-q', cwd]);
    const place = { cwd, home: claudeHome, model };
    const { program, args, env } = await claudeCommand({
      ...place,
      allow: [],
      args: ['plugin', 'validate', plugin, '--strict'],
    });
    const verdict = execFileSync(program, args, { cwd, env, encoding: 'utf8' });
    must(verdict.includes('Validation passed'), 'claude plugin validate passes');
    const start = 'mcp__plugin_stepfast_stepfast__workflow_start';
    model.on(lastUser(/start it/), reply.tool(start, { workflow: 'keep' }), reply.text('Started.'));
    model.always(summariser(), forgetsAll());
    model.on(lastUser(/and now/), reply.text('Going on.'));
    const { requests } = await runClaude({
      ...place,
      pluginDir: plugin,
      allow: [start],
      prompts: ['start it', '/compact', 'and now'],
    });
    const after = contextOf(requests.firstRequestAfterCompaction());
    must(after.includes("workflow 'keep'"), 'a run in Claude Code comes back after a compaction');
  } finally {
    await model[Symbol.asyncDispose]();
    removeHome(claudeHome);
  }
}

try {
  execFileSync('npm', ['pack', '--pack-destination', directory, '--silent'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const tarball = readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(directory, 'package.json'), '{ "type": "module", "private": true }\n');
  run('npm', 'install', '--no-audit', '--no-fund', '--silent', `./${tarball}`);
  const modules = join(directory, 'node_modules');
  must(
    bytesIn(modules) <= maxBytes,
    `install of ${(bytesIn(modules) / 1024 / 1024).toFixed(1)} MB is at most 15 MB`,
  );
  must(
    readdirSync(modules)
      .filter((name) => !name.startsWith('.'))
      .join() === 'stepfast',
    'nothing else is installed',
  );

  const stepfast = (...args: string[]): string => run(join('node_modules', '.bin', 'stepfast'), ...args);
  const { version } = JSON.parse(readFileSync(join(modules, 'stepfast', 'package.json'), 'utf8'));
  must(stepfast('--version').trim() === version, `stepfast --version says ${version}`);
  const names: string[] = JSON.parse(stepfast('list', '--json')).workflows.map(
    (one: { name: string }) => one.name,
  );
  must(names.length >= 9, `list shows ${names.length} workflows`);
  for (const name of names) {
    must(stepfast('graph', name).includes(name), `${name} is drawn`);
    must(stepfast('graph', name, '--format', 'svg').startsWith('<svg'), `${name} is an SVG`);
    must(/^flowchart /m.test(stepfast('graph', name, '--format', 'mermaid')), `${name} is Mermaid`);
    must(stepfast('dry-run', name).includes('complete'), `${name} walks to its end`);
  }
  writeFileSync(
    join(directory, 'library.ts'),
    `import { loadWorkflowTemplateFromString, WorkflowStateMachine, type WorkflowState } from 'stepfast';
const template = loadWorkflowTemplateFromString('name: x\\ndescription: y\\nsteps: [{ id: a, type: action, instructions: z }]');
const machine = new WorkflowStateMachine(template);
const state: WorkflowState = machine.getState();
// @ts-expect-error: a step has no name. If declarations were missing, it would be any.
template.steps[0]?.name;
console.log(machine.advance('done').status, state.step);
`,
  );
  const compiler = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
  must(
    run('node', compiler, ...strict, '--lib', 'es2024,dom', 'library.ts') === '',
    'the library has its types',
  );
  must(run('node', 'library.ts').trim() === 'complete a', 'the library runs');
  writeFileSync(
    join(directory, 'window.ts'),
    `import { createContextWindow, type ContextWindow } from 'stepfast/context';
const window: ContextWindow = createContextWindow({ systemPrompt: 'You are a coder.' });
for (let n = 0; n < 50; n++) window.append('user', 'message ' + n);
const { compacted, after } = await window.compact(200);
console.log(compacted, after <= 200, window.messages()[0]?.content, window.conversation().at(-1)?.content);
`,
  );
  must(
    run('node', 'window.ts').trim() === 'true true You are a coder. message 49',
    'stepfast/context compacts a window',
  );
  tryLibrary({ directory, tarball: join(directory, tarball), env, must });

  const manifest = { type: 'module', private: true, scripts: { test: 'node -e 0' } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  run('git', 'init', '-q');
  must(stepfast('init', '--yes').includes('npm test'), 'init finds the test command');
  stepfast('go', 'Try the package');
  must(stepfast('advance', '--output', 'checked').includes('complete'), 'a run goes through its gate');
  must(stepfast('log').includes('npm test'), 'the log tells of the gate');
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'try', version: '1' } },
  };
  const answer = execFileSync(join('node_modules', '.bin', 'stepfast'), ['mcp'], {
    cwd: directory,
    env,
    encoding: 'utf8',
    input: `${JSON.stringify(initialize)}\n`,
  });
  must(JSON.parse(answer).result.serverInfo.name === 'stepfast', 'the MCP server answers');
  await tryPlugin(join(modules, 'stepfast'));
} finally {
  for (const each of [directory, home]) rmSync(each, { recursive: true, force: true });
}
