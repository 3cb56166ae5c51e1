import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { homedir, hostname, uptime } from 'node:os';
import { join } from 'node:path';

/** The user of this machine, as a process sees one. */
export interface UserEnvironment {
  home?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  platform?: NodeJS.Platform;
}

/** Where Stepfast keeps what it knows of this user on this machine: trust and the machine's id. Never in a repository. */
export function stateDirectory({
  home = homedir(),
  env = process.env,
  platform = process.platform,
}: UserEnvironment = {}): string {
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'stepfast');
  if (platform === 'darwin' && !env.XDG_STATE_HOME)
    return join(home, 'Library', 'Application Support', 'stepfast');
  return join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'stepfast');
}

/** A name for this machine that does not change: a journal tells lost races from forks by it. */
export function machineId(directory: string): string {
  const file = join(directory, 'machine');
  const known = readOrEmpty(file).trim();
  if (known !== '') return known;
  const fresh = `${hostname().split('.', 1)[0]}-${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, `${fresh}\n`, { flag: 'wx' });
    return fresh;
  } catch {
    // Another process was first, or nothing can be written here.
    return readOrEmpty(file).trim() || `${hostname()}-unknown`;
  }
}

/** The machine, its boot and its space of process ids: elsewhere a process id means nothing. */
export function bootId(machine: string): string {
  const id = readOrEmpty('/proc/sys/kernel/random/boot_id').trim().slice(0, 8);
  // Elsewhere the time of the boot, to the minute: clocks drift.
  return `${machine}@${id || Math.round((Date.now() / 1000 - uptime()) / 60)}${pidSpace()}`;
}

/** A sandbox has process ids of its own. */
function pidSpace(): string {
  try {
    return `/${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}`;
  } catch {
    return '';
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
