import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { homedir, hostname, uptime } from 'node:os';
import { join } from 'node:path';

/** The user of this machine, from the process. */
export interface UserEnvironment {
  home?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  platform?: NodeJS.Platform;
}

/** The directory of per-user state on this machine, such as trust and the machine id. Never in a repository. */
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

/** A stable name for this machine, by which a journal tells lost races from forks. */
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
    // Another process was first, or it is not writable.
    return readOrEmpty(file).trim() || `${hostname()}-unknown`;
  }
}

/** The machine, boot and pid namespace: a process id means nothing outside them. */
export function bootId(machine: string): string {
  const id = readOrEmpty('/proc/sys/kernel/random/boot_id').trim().slice(0, 8);
  // Without one, the boot time to the minute: clocks drift.
  return `${machine}@${id || Math.round((Date.now() / 1000 - uptime()) / 60)}${pidSpace()}`;
}

/** A sandbox has its own process ids. */
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
