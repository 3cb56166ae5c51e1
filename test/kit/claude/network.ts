import { execFile } from 'node:child_process';

/** `loopback`: a namespace of its own with nothing else in it. `open`: this machine cannot make one. */
export type Network = 'loopback' | 'open';

let found: Promise<readonly string[] | undefined> | undefined;

/** What starts a program with no network but loopback, or nothing where that does not work. */
export async function isolation(): Promise<readonly string[] | undefined> {
  found ??= find();
  return await found;
}

const up = 'ip link set lo up && exec "$@"';

async function find(): Promise<readonly string[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  // The second is for those who are not root.
  for (const flags of [['-n'], ['-r', '-n']]) {
    const prefix = ['unshare', ...flags, 'sh', '-c', up, 'sh'];
    if (await works([...prefix, 'true'])) return prefix;
  }
  return undefined;
}

async function works([program = '', ...args]: readonly string[]): Promise<boolean> {
  const env = { PATH: systemPath };
  return await new Promise((resolve) => {
    execFile(program, args, { env, timeout: 60_000 }, (error) => resolve(error === null));
  });
}

export const systemPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
