import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let directory = '';
const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
const root = join(import.meta.dirname, '../..');

/** A project with the packed package as its only dependency, in a home of its own. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-printed-'));
  const project = join(directory, 'project');
  mkdirSync(project);
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', directory];
  execFileSync('npm', pack, { cwd: root, stdio: 'ignore' });
  const tarball = readdirSync(directory).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(project, 'package.json'), '{ "private": true, "scripts": { "test": "true" } }\n');
  sh(`npm install --no-audit --no-fund --silent '${join(directory, tarball)}'`);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const place = () => ({ cwd: join(directory, 'project'), env: { PATH: path, HOME: directory } });

function sh(command: string): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { ...place(), encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

/** Whether it prints an address instead of ending. It is stopped. */
async function serves(command: string): Promise<boolean> {
  const { env, cwd } = place();
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd, env, detached: true });
  const closed = once(child, 'close');
  let isServing = false;
  for await (const chunk of child.stdout) {
    isServing = String(chunk).includes('http://127.0.0.1:');
    if (isServing) break;
  }
  // npx starts it as a process of its own.
  if (isServing && child.pid !== undefined) process.kill(-child.pid);
  await closed;
  return isServing;
}

/** Commands that begin a line or follow a colon, up to the column with what they do. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/(?:^|: )\s*((?:\S+ )?\S*stepfast\S* [a-z][^\n<>]*?)(?=\s{2,}|$)/gm)].map(
    ([, command = '']) => command.trim(),
  );

test('[U7] every command that a package installed in a project prints works as printed', async () => {
  expect(sh('command -v stepfast').status).not.toBe(0);
  const seen = new Set<string>();
  for (const first of ['npx stepfast', 'npx stepfast init --yes --host none', 'npx stepfast status']) {
    const { text } = sh(first);
    for (const command of commandsIn(text)) seen.add(command);
    expect(text).not.toMatch(/(?<!npx )(?<![\w/.:-])stepfast [a-z]/);
  }
  expect([...seen].length).toBeGreaterThan(3);
  for (const command of seen) {
    if (command.endsWith(' ui')) {
      expect(await serves(command)).toBe(true);
      continue;
    }
    const { status, text } = sh(command);
    // 1: the answer is no, such as a status without a run. The shell has 126 and 127.
    expect({ command, status, text }).toMatchObject({
      status: expect.toSatisfy((code) => code === 0 || code === 1),
    });
  }
  expect(sh('npx stepfast doctor').text).toContain('command: npx stepfast');
});

test('[U7] a checkout prints the file to start', () => {
  const { text } = sh(`node '${join(root, 'dist/cli.js')}' help`);
  const [command = ''] = /node \S+ help --all/.exec(text) ?? [];
  expect(sh(command)).toMatchObject({ status: 0, text: expect.stringContaining('validate') });
});
