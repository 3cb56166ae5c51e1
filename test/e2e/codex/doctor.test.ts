/** `stepfast doctor --live` with the real Codex, as the person has it. */
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostBinary } from '../../../scripts/install-hosts.ts';
import { listHooks, startAppServer } from '../../../src/hosts/codex/app-server.ts';
import type { Check } from '../../../src/runtime/index.ts';
import { type CodexLab, createCodexLab, trustHooks } from '../../kit/codex.ts';
import { stepfastIn } from '../../kit/stepfast-in.ts';

const tried = [
  'PreToolUse',
  'PreToolUse (stepfast)',
  'PostToolUse (stepfast)',
  'PostToolUse (write)',
  'PostToolUse (read)',
  'PostToolUse (shell)',
  'PreCompact',
  'SessionStart',
  'UserPromptSubmit',
  'Stop',
  'briefing',
];

let lab: CodexLab;
beforeEach(async () => {
  lab = await createCodexLab();
  // Its model is outside of the namespace.
  lab.env.PATH = `${dirname(await hostBinary('codex'))}:${lab.env.PATH}`;
});
afterEach(async () => await lab[Symbol.asyncDispose]());

async function live(): Promise<Check[]> {
  const { stdout } = await stepfastIn(lab, 'doctor', '--json', '--live');
  const sections: { title: string; checks: Check[] }[] = JSON.parse(stdout).sections;
  return sections.find(({ title }) => title === 'Codex, live')?.checks ?? [];
}

const init = async (): Promise<void> => {
  const installed = await stepfastIn(lab, 'init', '--yes', '--host', 'codex');
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
};

async function trust(): Promise<void> {
  const server = await startAppServer({ env: lab.env, cwd: lab.project.root });
  await trustHooks(server, lab.project.root);
  expect((await listHooks(server, lab.project.root)).every(({ trusted }) => trusted)).toBe(true);
  await server.host.end(5_000);
}

const whats = (checks: readonly Check[], state: Check['state']): string[] =>
  checks.filter((each) => each.state === state).map(({ what }) => what);

it('proves the hooks as they are installed, starts nothing else of the person and writes nothing of theirs', async () => {
  const config = join(lab.config, 'config.toml');
  const started = join(lab.home, 'started');
  appendFileSync(
    config,
    `\n[mcp_servers.other]\ncommand = "sh"\nargs = ["-c", "touch ${started}; cat"]\n
[[hooks.UserPromptSubmit]]\nhooks = [{ type = "command", command = "touch ${started}" }]\n`,
  );
  await init();
  await trust();
  const before = readFileSync(config, 'utf8');
  const checks = await live();
  expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(whats(checks, 'ok')).toEqual(tried);
  expect(existsSync(started)).toBe(false);
  expect(readFileSync(config, 'utf8')).toBe(before);
  expect(existsSync(join(lab.config, 'sessions'))).toBe(false);
});

it('finds hooks that the person has not trusted, and proves that they work otherwise', async () => {
  await init();
  const checks = await live();
  expect(whats(checks, 'wrong')).toEqual(['hooks']);
  expect(checks.find(({ what }) => what === 'hooks')?.next).toMatch(/trust.*\/hooks/);
  expect(whats(checks, 'ok')).toEqual(tried);
  expect(readFileSync(join(lab.config, 'config.toml'), 'utf8')).not.toContain('trusted_hash');
});

it('finds a plugin that is missing, a hook that is never started and hooks that say nothing', async () => {
  expect(whats(await live(), 'wrong')).toEqual(['hooks']);
  await init();
  const plugins = join(lab.config, 'plugins', 'cache', 'stepfast');
  const name = readdirSync(plugins, { recursive: true, encoding: 'utf8' }).find((each) =>
    each.endsWith(join('hooks', 'codex.json')),
  );
  const hooks = join(plugins, name ?? expect.unreachable());
  writeFileSync(hooks, readFileSync(hooks, 'utf8').replace('"apply_patch"', '"no_such_tool"'));
  await trust();
  expect(whats(await live(), 'wrong')).toEqual(['PostToolUse (write)']);
  rmSync(join(lab.env.XDG_STATE_HOME ?? '', 'stepfast', 'plugin', 'current', 'hooks', 'stepfast-hook.sh'));
  expect(whats(await live(), 'wrong')).toEqual(['PostToolUse (write)', 'briefing']);
});
