import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runHook } from '../../hooks/index.ts';
import { hosts } from '../../hosts/index.ts';
import { type LocalRuntime, openRuntime } from '../../runtime/index.ts';
import type { Io } from '../io.ts';

/** A temporary project with its own home directory. Touches none of the user's files. */
export interface DemoProject {
  root: string;
  runtime: LocalRuntime;
  who: { session: string; host: string };
  write(file: string, text: string): void;
  /** Fires one of Claude Code's hooks and returns the injected text. */
  fire(event: string, payload: object): Promise<string>;
  [Symbol.dispose](): void;
}

const test = 'node cart.test.mjs';

const workflow = `name: fix-and-release
description: Fix a bug, then release the fix
steps:
  - id: fix
    type: action
    instructions: Make total() work for an empty cart.
    gate: [{ run: ${test} }]
  - id: release
    type: action
    instructions: Describe the fix in CHANGES.md.
    gate: [{ exists: CHANGES.md }]
`;

const broken = 'export const total = (prices) => prices.reduce((sum, price) => sum + price);\n';
export const fixed = 'export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n';

const tests = `import { total } from './cart.mjs';

let red = 0;
function check(name, prices, expected) {
  try {
    const found = total(prices);
    if (found !== expected) throw new Error(\`expected \${expected}, found \${found}\`);
    console.log(\`ok    \${name}\`);
  } catch (error) {
    red += 1;
    console.log(\`FAIL  \${name}: \${error.message}\`);
  }
}

check('two items', [2, 3], 5);
check('an empty cart', [], 0);
process.exitCode = red;
`;

export function createDemoProject({ env, main, now }: Io): DemoProject {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-demo-')));
  const root = join(directory, 'shop');
  const home = join(directory, 'home');
  const demoEnv = {
    PATH: [dirname(process.execPath), env.PATH ?? ''].join(delimiter),
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    LOCALAPPDATA: join(home, 'state'),
    // A gate's process writes its compiled code when it ends, and the folder may be deleted by then.
    NODE_DISABLE_COMPILE_CACHE: '1',
    ...(env.SystemRoot === undefined ? {} : { SystemRoot: env.SystemRoot }),
  };
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  mkdirSync(home);
  write('.stepfast/workflows/fix-and-release.yaml', workflow);
  write('cart.mjs', broken);
  write('cart.test.mjs', tests);
  const runner = { program: process.execPath, args: [main, 'gate-runner'] };
  const runtime = openRuntime({ cwd: root, env: demoEnv, home, runner, clock: now });
  const { definition } = runtime.resolve('fix-and-release');
  // No confirmation needed: every command is defined in this file.
  runtime.trust.give(definition, { now: now(), by: 'person' });
  const [host] = hosts;
  if (!host) throw new Error('no host is registered');
  const who = { session: 'demo', host: host.name };
  return {
    root,
    runtime,
    who,
    write,
    async fire(event, payload) {
      const input = { session_id: who.session, cwd: root, hook_event_name: event, ...payload };
      const environment = { env: demoEnv, commandEnv: demoEnv, home, now, pid: undefined, program: main };
      const { stdout, stderr } = await runHook(host, event, JSON.stringify(input), environment);
      if (stderr !== '') throw new Error(stderr);
      return stdout.startsWith('{')
        ? (JSON.parse(stdout).hookSpecificOutput?.additionalContext ?? '')
        : stdout;
    },
    [Symbol.dispose]: () =>
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
