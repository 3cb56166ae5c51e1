/** People at their machines, with real terminals. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTerminal, type Terminal } from '../terminal.ts';

export const main = join(import.meta.dirname, '../../../dist/cli.js');
const workflow = `name: feature
description: Frame it
steps:
  - { id: frame, type: action, instructions: Frame it., review: { by: human } }
`;

/** The machine of a person: a home and a checkout. */
export interface Place {
  root: string;
  env: Record<string, string>;
  /** The token that lies on its disk. */
  login(): string;
  /** With a token of an agent or a runner. */
  logIn(url: string, token: string): void;
  open(args: string, more?: Record<string, string>): Promise<Terminal>;
  run(...args: string[]): string;
}

let places = 0;

/** In a directory of the test. */
export function createPlace(directory: string): Place {
  const home = join(directory, `place-${++places}`);
  const root = join(home, 'shop');
  mkdirSync(join(root, '.stepfast/workflows'), { recursive: true });
  writeFileSync(join(root, '.stepfast/workflows/feature.yaml'), workflow);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_STATE_HOME: join(home, 'state'),
    STEPFAST_MACHINE: `machine-${places}`,
  };
  execFileSync('git', ['init', '-q', root], { env });
  const stepfast = (args: string[], input = ''): string =>
    execFileSync(process.execPath, [main, ...args], {
      cwd: root,
      env,
      input,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const servers = join(home, 'state/stepfast/servers');
  return {
    root,
    env,
    login: () => {
      const [file = ''] = readdirSync(servers);
      return JSON.parse(readFileSync(join(servers, file), 'utf8')).token;
    },
    open: (args, more = {}) =>
      openTerminal({
        directory: mkdtempSync(join(home, 'tmux-')),
        command: ['sh', '-c', `'${process.execPath}' '${main}' ${args}; echo "exit $?"; sleep 1000`],
        cwd: root,
        env: { ...env, ...more },
        columns: 120,
        rows: 40,
      }),
    logIn: (url, token) => void stepfast(['login', url, '--token-stdin'], token),
    run: (...args) => stepfast(args),
  };
}

export async function typeIn(terminal: Terminal, ...steps: [RegExp, string][]): Promise<void> {
  for (const [seen, text] of steps) {
    await terminal.waitFor(seen);
    await terminal.type(text);
    await terminal.press('Enter');
  }
}

/** A run of the place that waits for a person. */
export function waitingRun(place: Place): string {
  const { run } = JSON.parse(place.run('start', 'feature', '--json'));
  place.run('advance', 'Framed', '--json');
  return run;
}
