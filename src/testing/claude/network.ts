import { execFile } from 'node:child_process';
import type { ScriptedModel } from '../model/scripted-model.ts';
import { bridgeProgram } from '../programs.ts';

/** `loopback`: a network namespace with nothing else in it. `open`: this machine cannot create one. */
export type Network = 'loopback' | 'open';

export interface Isolated {
  program: string;
  args: string[];
  network: Network;
}

/** The command that starts a program with no network except the scripted model. */
export async function isolate(
  { socket }: Pick<ScriptedModel, 'socket'>,
  program: string,
  args: readonly string[],
): Promise<Isolated> {
  const [first, ...flags] = (await namespace()) ?? [];
  if (first === undefined) return { program, args: [...args], network: 'open' };
  const inside = [...flags, process.execPath, bridgeProgram, socket, program, ...args];
  return { program: first, args: inside, network: 'loopback' };
}

let found: Promise<readonly string[] | undefined> | undefined;

/** Whether this machine can create a network namespace. */
export async function canIsolate(): Promise<boolean> {
  return (await namespace()) !== undefined;
}

async function namespace(): Promise<readonly string[] | undefined> {
  found ??= findNamespace();
  return await found;
}

const up = 'ip link set lo up && exec "$@"';

async function findNamespace(): Promise<readonly string[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  // The second is for users other than root.
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
