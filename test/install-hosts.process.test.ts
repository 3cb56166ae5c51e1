import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = join(import.meta.dirname, '..', 'scripts', 'install-hosts.ts');

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'stepfast-hosts-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

/** As the script finds them: a program that says its version, and an npm that does what it is told. */
function install(
  npm: string,
  more: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const bin = join(cache, 'bin');
  program(join(bin, 'npm'), npm);
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    STEPFAST_CI_CACHE: cache,
    ...more,
  };
  return spawnSync(process.execPath, [script, 'claude'], { env, encoding: 'utf8' });
}

function program(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

const gives = (version: string): string => `
for last; do :; done
directory="node_modules/\${last%@*}"
mkdir -p "$directory"
printf '#!/bin/sh\\necho "${version} (Claude Code)"\\n' > "$directory/claude"
chmod +x "$directory/claude"`;

it('the pinned version is installed once', () => {
  const first = install(gives('2.1.325'));
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(first.stdout.trim()).toMatch(/claude-code-2\.1\.325.*claude$/);
  expect(install('exit 1').stdout).toBe(first.stdout);
  expect(readdirSync(cache).sort()).toEqual(['bin', 'claude-code-2.1.325']);
});

it('a program that replaced itself is checked again', () => {
  const installed = install(gives('2.1.325')).stdout.trim();
  program(installed, 'echo "2.1.400 (Claude Code)"');
  expect(install('exit 1')).toMatchObject({ status: 1, stdout: '' });
});

it('starts of an agent are counted', () => {
  const log = join(cache, 'sessions');
  const counted = install(gives('2.1.325'), { STEPFAST_CI_SESSIONS: log }).stdout.trim();
  expect(spawnSync(counted, ['--version'], { encoding: 'utf8' }).stdout).toBe('2.1.325 (Claude Code)\n');
  expect(readFileSync(log, 'utf8')).toBe('claude\n');
});

it('an older version than asked for is no version', () => {
  const { status, stderr } = install(gives('2.0.9'));
  expect(status).toBe(1);
  expect(stderr).toContain("says version '2.0.9 (Claude Code)', the tests are for 2.1.325");
  expect(readdirSync(cache).sort()).toEqual(['bin']);
});

it('what cannot be installed is named, with what npm said', () => {
  const { status, stderr } = install('echo "no registry answers" >&2; exit 1');
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /Claude Code 2\.1\.325 is missing: npm could not install @anthropic-ai\/claude-code-.*no registry answers/,
  );
});
