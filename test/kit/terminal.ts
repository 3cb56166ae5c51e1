/** A real terminal, provided by a private tmux server. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Size {
  columns: number;
  rows: number;
}

export interface Terminal {
  /** The visible screen, with colors as escape sequences. */
  screen(): Promise<string>;
  /** The visible screen and the scrollback. */
  history(): Promise<string>;
  type(text: string): Promise<void>;
  /** A key by tmux's name: Enter, Escape, C-c. */
  press(key: string): Promise<void>;
  /** Waits until `seen` is on the screen; the error contains the actual screen. */
  waitFor(seen: RegExp, ms?: number): Promise<void>;
  resize(size: Size): Promise<void>;
  /** Whether the bell has rung. */
  bell(): Promise<boolean>;
  close(): Promise<void>;
}

interface Started extends Size {
  directory: string;
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

const pollMs = 80;

export async function openTerminal({
  directory,
  command,
  cwd,
  env,
  columns,
  rows,
}: Started): Promise<Terminal> {
  const socket = join(directory, 'tmux');
  const tmux = async (...args: string[]): Promise<string> => {
    const { stdout } = await execute('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env });
    return stdout;
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const size = ['-x', String(columns), '-y', String(rows)];
  const program = ['env', '-i', ...variables, 'TERM=tmux-256color', 'COLORTERM=truecolor', ...command];
  await tmux('new-session', '-d', ...size, '-c', cwd, '--', ...program);
  await tmux('set', '-g', 'status', 'off');
  const screen = async (): Promise<string> => await tmux('capture-pane', '-p', '-e');
  const plain = async (): Promise<string> => await tmux('capture-pane', '-p');
  return {
    screen,
    history: async () => await tmux('capture-pane', '-p', '-e', '-S', '-'),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    press: async (key) => void (await tmux('send-keys', key)),
    async waitFor(seen, ms = 120_000) {
      for (let waited = 0; waited < ms; waited += pollMs) {
        if (seen.test(await plain())) return;
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
      throw new Error(`${seen} did not appear. Screen:\n${await plain()}`);
    },
    resize: async (now) =>
      void (await tmux('resize-window', '-x', String(now.columns), '-y', String(now.rows))),
    bell: async () => (await tmux('display', '-p', '#{window_bell_flag}')).trim() === '1',
    close: async () => void (await tmux('kill-server')),
  };
}
