import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment } from '../../runtime/index.ts';

export interface LiveSession {
  program: string;
  /** The folder of its configuration and temporary files. */
  home: string;
  cwd: string;
  plugin: string;
  url: string;
  path: string;
  prompts: readonly string[];
  limitMs: number;
}

/** Without the user's own configuration, and with no address but the model's. */
export function environmentFor({ home, path }: Pick<LiveSession, 'home' | 'path'>): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
  };
}

const tools = ['Bash', 'Read', 'Write', 'Agent', 'CronCreate', 'ToolSearch', 'mcp__plugin_stepfast_stepfast'];

/** Runs the real host with these prompts, one after the other. Returns the reason of a failure. */
export async function runSession(session: LiveSession): Promise<string | undefined> {
  const { program, home, cwd, plugin, url, prompts, limitMs } = session;
  const config = join(home, 'config');
  for (const folder of [config, join(home, 'tmp')]) mkdirSync(folder, { recursive: true });
  const seed = { hasCompletedOnboarding: true, projects: { [cwd]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(config, '.claude.json'), JSON.stringify(seed));
  const env: Environment = {
    ...environmentFor(session),
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_API_KEY: 'dummy-key',
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  };
  const stream = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  const args = ['-p', '--verbose', ...stream, '--plugin-dir', plugin, '--allowedTools', tools.join(',')];
  const host = spawn(program, args, {
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  host.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  host.stdin.on('error', () => {});
  const left = [...prompts];
  const next = (): void => {
    const prompt = left.shift();
    if (prompt === undefined) return void host.stdin.end();
    const message = { type: 'user', message: { role: 'user', content: prompt } };
    host.stdin.write(`${JSON.stringify(message)}\n`);
  };
  createInterface({ input: host.stdout }).on('line', (line) => {
    if (line.includes('"type":"result"')) next();
  });
  next();
  const ended = await new Promise<string | undefined>((resolve) => {
    const late = setTimeout(resolve, limitMs, `it had not ended after ${limitMs / 1000} s`);
    const over = (why: string | undefined): void => {
      clearTimeout(late);
      resolve(why);
    };
    host.once('error', (error) => over(error.message));
    host.once('exit', (code) =>
      over(code === 0 ? undefined : `it ended with ${code}: ${stderr.trim().slice(-300)}`),
    );
  });
  try {
    // Ends its child processes too.
    if (host.pid !== undefined) process.kill(-host.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
  return ended;
}
