import { execFileSync } from 'node:child_process';
import { constants, openSync, readFileSync, readlinkSync } from 'node:fs';

const mostParents = 6;
const psMs = 500;

/**
 * The terminal of this process, or of the nearest parent that has one: hosts start hooks without a terminal. Undefined
 * where there is none, and on Windows.
 */
export function openTerminal(parent: number = process.ppid): number | undefined {
  const own = openForBell('/dev/tty');
  if (own !== undefined || process.platform === 'win32') return own;
  let pid = parent;
  for (let count = 0; count < mostParents && pid > 1; count += 1) {
    const found = process.platform === 'linux' ? lookInProc(pid) : lookWithPs(pid);
    const terminal = found?.device === undefined ? undefined : openForBell(found.device);
    if (terminal !== undefined) return terminal;
    pid = found?.parent ?? 0;
  }
  return undefined;
}

interface Found {
  device: string | undefined;
  parent: number;
}

function lookInProc(pid: number): Found | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return { device: [2, 1, 0].map((file) => deviceAt(`/proc/${pid}/fd/${file}`)).find(Boolean), parent };
  } catch {
    return undefined;
  }
}

function deviceAt(link: string): string | undefined {
  try {
    const device = readlinkSync(link);
    return /^\/dev\/(?:pts\/|tty)\w+$/.test(device) ? device : undefined;
  } catch {
    return undefined;
  }
}

/** `ttys001 501`, or `?? 501`. */
function lookWithPs(pid: number): Found | undefined {
  try {
    const args = ['-o', 'tty=,ppid=', '-p', String(pid)];
    const [tty = '', parent] = execFileSync('ps', args, { timeout: psMs, encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return { device: /^\w+$/.test(tty) ? `/dev/${tty}` : undefined, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function openForBell(device: string): number | undefined {
  try {
    return openSync(device, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
