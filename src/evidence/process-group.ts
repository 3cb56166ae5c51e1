import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const hasGroups = process.platform !== 'win32';

/** Signals the process group of `pid`. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (!hasGroups) {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is already gone.
  }
}

/** Sends SIGTERM, and SIGKILL after `graceMs`. The group is gone when it resolves. */
export async function terminateGroup(pid: number, graceMs = 2000): Promise<void> {
  if (!groupAlive(pid)) return;
  signalGroup(pid, 'SIGTERM');
  if (await waitUntilGone(pid, graceMs)) return;
  signalGroup(pid, 'SIGKILL');
  await waitUntilGone(pid, 500);
}

async function waitUntilGone(pid: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (let pause = 5; groupAlive(pid); pause = Math.min(pause * 2, 80)) {
    if (performance.now() >= until) return false;
    await sleep(pause);
  }
  return true;
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(hasGroups ? -pid : pid, 0);
  } catch {
    return false;
  }
  // Zombies stay in the group until an init process reaps them, possibly late or never.
  return process.platform !== 'linux' || readdirSync('/proc').some((id) => isLiveMember(id, pid));
}

function isLiveMember(id: string, group: number): boolean {
  if (!/^\d+$/.test(id)) return false;
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    const [state = '', , of] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(of) === group && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
