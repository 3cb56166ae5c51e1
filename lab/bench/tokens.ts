/**
 * Tokens that the plugin adds to the first request of a session without a run: `npm run bench -- tokens`. The real Claude
 * Code sends the requests; o200k counts them whole, with and without the plugin.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import {
  contextOf,
  createScriptedModel,
  createTestProject,
  lastUser,
  reply,
  type ScriptedModel,
} from '../../src/testing/index.ts';
import { claudeCommand, runClaude } from '../../test/kit/claude.ts';
import { printTable } from '../figures.ts';

const root = join(import.meta.dirname, '../..');
const parts = ['.claude-plugin', 'dist', 'hooks', 'skills', 'workflows', 'package.json'];

export interface TokenFigures {
  /** Every tool is listed. */
  added: number;
  /** Tools are found by search, the host's default. */
  addedDeferred: number;
  /** What the host projects for skills; it does not count tools. */
  projected: number;
}

export async function bench({ from = root } = {}): Promise<TokenFigures> {
  using project = createTestProject();
  const { root: cwd, home } = project;
  const pluginDir = join(home, '..', 'plugin');
  // A copy, because the host would copy the node_modules of a checkout.
  for (const part of parts) cpSync(join(from, part), join(pluginDir, part), { recursive: true });
  await using model = await createScriptedModel();
  model.always(lastUser(/hello/), reply.text('Hello.'));
  const tokensOf = async (env: Record<string, string>, plugin: { pluginDir?: string }): Promise<number> => {
    const { requests } = await runClaude({ cwd, home, env, model, prompts: ['hello'], ...plugin });
    const [first] = requests.requestsOf('main');
    if (!first) throw new Error('the host sent no request');
    const seen = [JSON.stringify(first.body.tools ?? []), contextOf(first)];
    if (plugin.pluginDir && !seen.join('').includes('mcp__plugin_stepfast_stepfast__workflow_start'))
      throw new Error('the plugin provided no tools');
    return seen.reduce((sum, text) => sum + encode(text).length, 0);
  };
  const addedWith = async (env: Record<string, string>): Promise<number> =>
    -(await tokensOf(env, {})) + (await tokensOf(env, { pluginDir }));
  const figures = {
    added: await addedWith({ ENABLE_TOOL_SEARCH: 'false' }),
    addedDeferred: await addedWith({}),
    projected: await projectedBy(pluginDir, { cwd, home: join(home, '..', 'installed'), model }),
  };
  printTable(Object.entries(figures));
  return figures;
}

const run = promisify(execFile);

/** Installed as a user would, because the host projects only installed plugins. */
async function projectedBy(
  plugin: string,
  options: { cwd: string; home: string; model: ScriptedModel },
): Promise<number> {
  const claude = async (...args: string[]): Promise<string> => {
    const { program, args: prefix, env } = await claudeCommand({ ...options, allow: [], args });
    return (await run(program, prefix, { cwd: options.cwd, env })).stdout;
  };
  mkdirSync(options.home);
  await claude('plugin', 'marketplace', 'add', plugin);
  await claude('plugin', 'install', 'stepfast@stepfast', '--scope', 'local');
  const details = await claude('plugin', 'details', 'stepfast');
  const told = /Always-on:\s*~([\d,]+) tok/.exec(details)?.[1];
  if (told === undefined) throw new Error(`the host projects nothing:\n${details}`);
  return Number(told.replaceAll(',', ''));
}
