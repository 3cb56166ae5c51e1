import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeIo } from '../testing/fake-io.ts';
import { createTestFolder } from '../testing/index.ts';
import { cliProgram } from '../testing/programs.ts';
import { commands, shownCommands } from './commands.ts';
import { exit, exitOf } from './exit.ts';
import { everyDay } from './help.ts';
import { run } from './run.ts';

const call = async (...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const fake = createFakeIo();
  const code = await run(argv, fake.io);
  return { code, stdout: fake.stdout(), stderr: fake.stderr() };
};

const listed = (text: string): string[] =>
  [...text.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name);

test('[U18] help lists the commands of every day, and help --all lists every command', async () => {
  const { code, stdout } = await call('help');
  expect(code).toBe(exit.ok);
  expect(listed(stdout)).toEqual(everyDay);
  expect(everyDay.length).toBeLessThan(10);
  expect(stdout).toContain('stepfast help --all');
  const all = await call('help', '--all');
  for (const { name, summary } of shownCommands)
    expect(all.stdout).toMatch(new RegExp(`  ${name} +${summary}`));
  expect(all.stdout).not.toContain('gate-runner');
  expect(await call('--help', '--all')).toEqual(all);
});

test('[U18] without a command it shows the run here, then the commands of every day', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n',
  });
  const alone = async () => await project.run([], { env: {}, terminal: true });
  expect(listed((await alone()).stdout)).toEqual(everyDay);
  await project.run(['start', 'w', '-s', 'Dark mode']);
  const one = await alone();
  expect(one).toMatchObject({ code: exit.ok, stderr: '' });
  expect(one.stdout).toMatch(/^w-\d+-\w+ {2}running.*\nDark mode\n/);
  expect(one.stdout).not.toMatch(/[a-z0-9]{8}:a#1/);
  expect(listed(one.stdout)).toEqual(everyDay);
  await project.run(['start', 'w', '-s', 'Light mode']);
  expect((await alone()).stdout).toMatch(/Light mode.*Dark mode|Dark mode.*Light mode/s);
  writeFileSync(join(project.root, '.stepfast/config.yaml'), 'boundaries: sometimes\n');
  expect(listed((await alone()).stdout)).toEqual(everyDay);
});

test('help, --help and -h say the same', async () => {
  const [help, long, short] = await Promise.all([call('help'), call('--help'), call('-h')]);
  expect(long).toEqual(help);
  expect(short).toEqual(help);
});

test('help of a command and --help after it say the same', async () => {
  for (const { name, usage } of commands) {
    const help = await call('help', name);
    expect(help.stdout).toContain(usage);
    expect(await call(name, '--help')).toEqual(help);
    expect(await call(name, 'feature', '-h')).toEqual(help);
  }
});

test('--version prints the version of the package', async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await call('--version')).toEqual({ code: exit.ok, stdout: `${manifest.version}\n`, stderr: '' });
});

test('what a command takes is what its help says', async () => {
  for (const { name, options, load } of commands) {
    const { options: taken } = await load();
    if (taken === undefined) continue;
    const told = options.flatMap(([flag]) => /--([\w-]+)/.exec(flag)?.[1] ?? []);
    expect({ name, options: told.sort() }).toEqual({ name, options: Object.keys(taken).sort() });
  }
});

test('with --json also a usage error is a document', async () => {
  const { code, stdout, stderr } = await call('advance', '--json', '--outptu', 'x');
  expect(code).toBe(exit.usage);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    code: 'usage',
    message: "There is no option '--outptu'. Did you mean '--output'?",
  });
});

test('an unknown command is a usage error with what was meant', async () => {
  const { code, stdout, stderr } = await call('vaildate');
  expect(code).toBe(exit.usage);
  expect(stdout).toBe('');
  expect(stderr).toBe("error There is no command 'vaildate'. Did you mean: stepfast validate\n");
});

test('an unknown command that resembles none leads to the help', async () => {
  expect((await call('deploy')).stderr).toContain('stepfast help');
});

test('a usage error shows how the command is used', async () => {
  const { code, stderr } = await call('graph');
  expect(code).toBe(exit.usage);
  expect(stderr).toContain('Usage: stepfast graph <workflow>');
});

test('what is no refusal is a failure of Stepfast itself', () => {
  expect(exitOf(new Error('a bug'))).toBe(exit.internal);
});

test('help and version load neither the definition nor a drawing', () => {
  const loaded = staticImports(join(import.meta.dirname, 'main.ts'));
  expect(loaded).toContain('run.ts');
  expect(loaded.filter((file) => /definition|machine|graph|validate|list/.test(file))).toEqual([]);
});

test('a reader that leaves early is no failure', async () => {
  const child = spawn(process.execPath, [cliProgram, 'help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

function staticImports(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  for (const match of readFileSync(file, 'utf8').matchAll(/^import (?!type)[^;]*from '(\.[^']+)'/gm)) {
    staticImports(join(dirname(file), match[1] ?? ''), seen);
  }
  return [...seen].map((one) => relative(import.meta.dirname, one));
}

test('an error that names its own correction tells the two apart', async () => {
  const server = createServer((_, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const logIn = async (...more: string[]) => {
    const fake = createFakeIo({ input: ['sf_0_unknown'] });
    const code = await run(['login', url, '--token-stdin', ...more], fake.io);
    return { code, stdout: fake.stdout(), stderr: fake.stderr() };
  };
  const { code, stdout } = await logIn('--json');
  expect(code).toBe(exit.no);
  expect(JSON.parse(stdout)).toMatchObject({
    code: 'server_refused',
    message: expect.not.stringContaining('login'),
    next: expect.stringContaining(`login ${url}`),
  });
  expect((await logIn()).stderr).toMatch(/^error .*\nnext {2}.*\n$/);
  server.close();
});
