import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment, FoundHost, SetupContext } from '../../runtime/index.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Generous: without a network, a command that needs it waits for its own timeout. */
const limitMs = 90_000;

export async function findClaude({
  env,
  root,
}: Pick<SetupContext, 'env' | 'root'>): Promise<FoundHost | undefined> {
  const program = onPath('claude', env);
  if (program === undefined) return undefined;
  const { code, stdout } = await ask(program, ['--version'], { env, root });
  const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  return code === 0 && version !== undefined ? { program, version } : { program };
}

/** Never throws: a program that cannot be started has the status 127. */
export async function ask(
  program: string,
  args: readonly string[],
  { env, root }: Pick<SetupContext, 'env' | 'root'>,
): Promise<Ran> {
  return await new Promise((resolve) => {
    const options = { cwd: root, env: { ...env }, timeout: limitMs, maxBuffer: 16 * 1024 * 1024 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
      const late = error?.killed ? `It timed out after ${limitMs / 1000} s.` : '';
      resolve({ code, stdout, stderr: [stderr, late].filter(Boolean).join('\n') });
    });
    child.stdin?.end();
  });
}

function onPath(name: string, env: Environment): string | undefined {
  const ends = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean)) {
    const found = ends.map((end) => join(folder, name + end)).find(isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Quoted for a shell where needed. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
