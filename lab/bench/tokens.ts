/**
 * Tokens that the plugin adds to the first request of a session without a run: `npm run bench -- tokens`. The real Claude Code
 * sends the requests; o200k counts them whole, with and without the plugin.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import {
  contextOf,
  createScriptedModel,
  lastUser,
  type ModelRequest,
  reply,
  type ScriptedModel,
} from '../../src/testing/index.ts';
import { claudeCommand, runClaude } from '../../test/kit/claude.ts';

const root = join(import.meta.dirname, '..', '..');

const parts = ['.claude-plugin', 'dist', 'hooks', 'skills', 'workflows', 'package.json'];

interface Counted {
  tools: number;
  rest: number;
}

export interface TokenFigures {
  /** Every tool is listed. */
  added: number;
  /** Tools are found by search, the host's default. */
  addedDeferred: number;
  /** What the host projects for skills; it does not count tools. */
  projected: number;
}

export async function bench({ from = root } = {}): Promise<TokenFigures> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-tokens-')));
  const cwd = join(directory, 'project');
  const home = join(directory, 'home');
  const plugin = join(directory, 'plugin');
  for (const each of [cwd, home]) mkdirSync(each);
  // A copy, because the host would copy the node_modules of a checkout.
  for (const part of parts) cpSync(join(from, part), join(plugin, part), { recursive: true });
  const model = await createScriptedModel();
  try {
    await run('git', ['init', '-q', cwd]);
    model.always(lastUser(/hello/), reply.text('Hello.'));
    const count = async (env: Record<string, string>): Promise<Counted> => {
      const bare = await firstRequest(model, { cwd, home, env });
      const full = await firstRequest(model, { cwd, home, env, pluginDir: plugin });
      const seen = `${contextOf(full)}${JSON.stringify(full.body.tools)}`;
      if (!seen.includes('mcp__plugin_stepfast_stepfast__workflow_start'))
        throw new Error('the plugin provided no tools');
      return difference(counted(bare), counted(full));
    };
    const listed = await count({ ENABLE_TOOL_SEARCH: 'false' });
    const deferred = await count({});
    const projected = await projectedBy(plugin, { cwd, home: join(directory, 'installed'), model });
    return print(listed, deferred, projected);
  } finally {
    await model[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function firstRequest(
  model: ScriptedModel,
  options: { cwd: string; home: string; env: Record<string, string>; pluginDir?: string },
): Promise<ModelRequest> {
  const { requests } = await runClaude({ ...options, model, prompts: ['hello'] });
  const [first] = requests.requestsOf('main');
  if (!first) throw new Error('the host sent no request');
  return first;
}

function counted(request: ModelRequest): Counted {
  const tools = encode(JSON.stringify(request.body.tools ?? [])).length;
  return { tools, rest: encode(contextOf(request)).length };
}

const difference = (bare: Counted, full: Counted): Counted => ({
  tools: full.tools - bare.tools,
  rest: full.rest - bare.rest,
});

const run = promisify(execFile);

/** Installed as a user would, because the host projects only installed plugins. */
async function projectedBy(
  plugin: string,
  options: { cwd: string; home: string; model: ScriptedModel },
): Promise<number> {
  const claude = async (...args: string[]): Promise<string> => {
    const { program, args: prefix, env } = await claudeCommand({ ...options, allow: [], args });
    const { stdout } = await run(program, prefix, { cwd: options.cwd, env });
    return stdout;
  };
  mkdirSync(options.home);
  await claude('plugin', 'marketplace', 'add', plugin);
  await claude('plugin', 'install', 'stepfast@stepfast', '--scope', 'local');
  const details = await claude('plugin', 'details', 'stepfast');
  const told = /Always-on:\s*~([\d,]+) tok/.exec(details)?.[1];
  if (told === undefined) throw new Error(`the host projects nothing:\n${details}`);
  return Number(told.replaceAll(',', ''));
}

function print(listed: Counted, deferred: Counted, projected: number): TokenFigures {
  const row = (name: string, ...cells: (number | string)[]) =>
    console.log(name.padEnd(40) + cells.map((cell) => String(cell).padStart(9)).join(''));
  const sum = ({ tools, rest }: Counted): number => tools + rest;
  row('added to the first request (o200k)', 'tools', 'text', 'all');
  row('every tool listed', listed.tools, listed.rest, sum(listed));
  row('tools behind the search (default)', deferred.tools, deferred.rest, sum(deferred));
  row('projected by claude plugin details', '', '', projected);
  return { added: sum(listed), addedDeferred: sum(deferred), projected };
}
