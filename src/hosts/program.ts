import { execFile } from 'node:child_process';
import { onPath } from '../on-path.ts';
import type { FoundHost, SetupContext } from '../runtime/index.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Generous: without a network, a command that needs it waits for its own timeout. */
const limitMs = 90_000;

/** Looks for the program of a host on the PATH, and asks it for its version. */
export async function findProgram(
  name: string,
  { env, root }: Pick<SetupContext, 'env' | 'root'>,
): Promise<FoundHost | undefined> {
  const program = onPath(name, env);
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

/** Quoted for a shell where needed. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
