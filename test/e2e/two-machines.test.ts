import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run as runCommand } from '../../src/cli/run.ts';
import { createFakeIo } from '../../src/testing/fake-io.ts';
import { cliProgram } from '../../src/testing/programs.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/portability.md'), 'utf8');
const workflow = /^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '';

/** Waits for a file that only this machine will have. */
const slow = `name: slow
description: A gate that takes its time
steps:
  - id: build
    type: action
    instructions: Build it.
    gate: [{ run: "until test -e go.txt; do sleep 0.2; done; rm go.txt" }]
`;

// Two dozen processes and as many of git, each a second on a busy machine.

interface Machine {
  root: string;
  /** The real program, called by an agent; its answer as JSON unless it is told otherwise. */
  stepfast(...args: string[]): { code: number | null; stdout: string; stderr: string };
  json(...args: string[]): Record<string, unknown>;
  /** What a terminal would show, in its order. */
  shown(...args: string[]): string;
  /** A person at a terminal, who types these lines. */
  person(typed: string[], ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  git(...args: string[]): string;
  journal(): string[];
}

let directory: string;
let a: Machine;
let b: Machine;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-two-')));
  const remote = join(directory, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  a = machine('machine-a', remote);
  a.git('checkout', '-q', '-b', 'main');
  mkdirSync(join(a.root, '.stepfast/workflows'), { recursive: true });
  writeFileSync(join(a.root, '.stepfast/workflows/feature.yaml'), workflow);
  writeFileSync(join(a.root, '.stepfast/workflows/slow.yaml'), slow);
  writeFileSync(join(a.root, '.stepfast/.gitignore'), 'runs/\nworktrees/\n');
  a.git('add', '-A');
  a.git('commit', '-q', '-m', 'first');
  a.git('push', '-q', 'origin', 'main');
  b = machine('machine-b', `file://${remote}`);
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));

/** A clone with a home of its own: what it knows it knows from git. */
function machine(name: string, remote: string): Machine {
  const root = join(directory, name, 'project');
  const home = join(directory, name, 'home');
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  // As after a global installation: commands are printed without the path of this checkout.
  writeFileSync(join(bin, 'stepfast'), '', { mode: 0o755 });
  const env = {
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    STEPFAST_MACHINE: name,
    STEPFAST_SESSION: `session-on-${name}`,
  };
  const who = '[user]\n  name = Test\n  email = test@example.com\n[core]\n  autocrlf = true\n';
  writeFileSync(join(home, 'gitconfig'), who);
  execFileSync('git', ['clone', '-q', remote, root], { env, stdio: 'pipe' });
  const options = { cwd: root, env, encoding: 'utf8' } as const;
  const stepfast: Machine['stepfast'] = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cliProgram, ...args], options);
    return { code: status, stdout, stderr };
  };
  return {
    root,
    stepfast,
    shown: (...args) =>
      spawnSync('sh', ['-c', 'exec "$0" "$@" 2>&1', process.execPath, cliProgram, ...args], options).stdout,
    json: (...args) => JSON.parse(stepfast(...args, '--json').stdout),
    person: async (input, ...args) => {
      const { STEPFAST_SESSION: _, ...own } = env;
      const fake = createFakeIo({ cwd: root, home, env: own, terminal: true, input });
      const code = await runCommand(args, fake.io);
      return { code, stdout: fake.stdout(), stderr: fake.stderr() };
    },
    git: (...args) => execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' }),
    journal: () => {
      const runs = join(root, '.stepfast/runs');
      const [run = ''] = readdirSync(runs).filter((each) => !each.startsWith('.'));
      return readFileSync(join(runs, run, 'journal.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean);
    },
  };
}

/** The `console` blocks of a page: `a$ ` and `b$ ` begin a command on a machine, the rest is what it prints. */
function commandsIn(text: string): { on: Machine; command: string; output: string[] }[] {
  const blocks = [...text.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^(?=[ab]\$ )/m)
      .filter(Boolean)
      .map((each) => {
        const [first = '', ...output] = each.trimEnd().split('\n');
        return { on: first.startsWith('a') ? a : b, command: first.slice(3), output };
      }),
  );
}

/** `…` stands for anything. */
/** A slow machine may need minutes for what the page shows. */
const shownAs = (shown: string): RegExp =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')
      .replaceAll('just now', '(?:just now|\\d+ min ago)')}$`,
  );

const long = 'The design in many words. '.repeat(100);

/** A run that was begun on A and sent. */
async function begun(): Promise<string> {
  const trusted = await a.person(['y'], 'trust', 'feature');
  expect(trusted.code, trusted.stderr).toBe(0);
  const { run } = a.json('start', 'feature', '--summary', 'Log in');
  a.stepfast('advance', 'Framed on A.');
  a.stepfast('advance', long);
  expect(a.json('push', '--yes')).toMatchObject({ run, did: 'sent' });
  return String(run);
}

test('[004/7] [pain 16] a run that was begun on one machine goes on on another and comes back', async () => {
  const run = await begun();
  const pulled = b.stepfast('pull');
  expect(pulled.code, pulled.stderr).toBe(0);
  expect(pulled.stdout).toContain(`${run}  running`);
  expect(pulled.stdout).toContain('at build');
  expect(pulled.stdout).toContain('session-on-machine-a');
  expect(pulled.stderr).toContain(' trust ');
  expect(b.journal()).toEqual(a.journal());
  expect(b.json('status', run)).toMatchObject({ step: 'build' });
  // The long text came with it, and no path of the other machine did.
  expect(JSON.stringify(b.json('export', run))).toContain(long.slice(0, 2000));
  expect(b.journal().join('\n')).not.toContain(directory);
  // Trust stays where it was given.
  expect(b.json('advance', 'Built on B.')).toMatchObject({ code: 'untrusted' });
  expect((await b.person(['y'], 'trust', run)).code).toBe(0);
  writeFileSync(join(b.root, 'built.txt'), 'built');
  expect(b.json('advance', 'Built on B.')).toMatchObject({ step: 'show' });
  expect(b.json('push', '--yes')).toMatchObject({ did: 'sent' });

  expect(a.json('pull', run)).toMatchObject({ did: 'continued', trusted: true });
  expect(a.json('push', '--yes')).toMatchObject({ did: 'nothing' });
  expect(a.json('advance', 'Shown on A.')).toMatchObject({ status: 'complete' });
  const state = JSON.parse(readFileSync(join(a.root, '.stepfast/runs', run, 'state.json'), 'utf8'));
  const machines = ({ sessions }: { sessions: { session_history: { environment: object }[] } }) =>
    sessions.session_history.map(({ environment }) => environment);
  expect(machines(state)).toMatchObject([{ hostname: 'machine-a' }, { hostname: 'machine-b' }]);
  const sessions = a.stepfast('sessions', run).stdout;
  expect(sessions).toMatch(/session-on-machine-a .* machine-a /);
  expect(sessions).toMatch(/session-on-machine-b .* machine-b /);
});

test('[004/7] docs/portability.md does what it shows', async () => {
  await a.person(['y'], 'trust', 'feature');
  const commands = commandsIn(page);
  expect(commands.length).toBeGreaterThan(8);
  for (const { on, command, output } of commands) {
    const [run = ''] = readdirSync(join(on.root, '.stepfast'), { recursive: true, encoding: 'utf8' }).flatMap(
      (file) => /^runs\/(feature-[^/]+)$/.exec(file)?.[1] ?? [],
    );
    const words = [...command.replace('--run …', `--run ${run}`).matchAll(/"([^"]*)"|(\S+)/g)];
    const [program, ...args] = words.map(([, quoted, plain]) => quoted ?? plain ?? '');
    expect(program).toBe('stepfast');
    const lines = on.shown(...args).split('\n');
    let from = 0;
    for (const shown of output) {
      const at = lines.findIndex((line, index) => index >= from && shownAs(shown).test(line));
      expect(at, `${command}\nshould print: ${shown}\nprinted:\n${lines.join('\n')}`).not.toBe(-1);
      from = at + 1;
    }
    if (on === b && command === 'stepfast pull') await b.person(['y'], 'trust', 'feature');
  }
});

test('[pain 16] gates that run on one machine are waited for on another, which neither runs nor ends them', async () => {
  await a.person(['y'], 'trust', 'slow');
  const { run, at } = a.json('start', 'slow');
  expect(a.stepfast('advance', 'built', '--at', String(at), '--wait', '0').code).toBe(4);
  const sent = a.stepfast('push', '--yes');
  expect(sent.stderr).toMatch(/^note .*gates/m);
  const came = b.stepfast('pull');
  expect(came.stderr).toMatch(/^note .*gates/m);
  expect(b.json('status', String(run))).toMatchObject({ checking: {} });
  writeFileSync(join(a.root, 'go.txt'), 'go');
  expect(a.json('status', String(run), '--wait')).toMatchObject({ status: 'complete' });
  expect(a.json('push', String(run), '--yes')).toMatchObject({ did: 'sent' });
  expect(b.json('pull', String(run))).toMatchObject({ did: 'continued', notes: [] });
  expect(b.json('status', String(run))).toMatchObject({ status: 'complete' });
});
