import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Receipt, Status } from '../../machine/index.ts';
import { logsDirectory, logsName, type Project } from '../../workspace/index.ts';

/** Finds the log of a gate in this position's last check, relative to the project's root. */
export function createGateLogs(
  project: Project,
  { run, at }: Status,
): (receipt: Receipt) => string | undefined {
  if (at === undefined) return () => undefined;
  const gates = logsDirectory(project, run);
  const last = lastCheck(gates, at);
  return ({ gate }) => {
    const file = join(gates, last ?? '', `gate-${gate + 1}.log`);
    return last !== undefined && existsSync(file) ? relative(project.root, file) : undefined;
  };
}

/** Checks are numbered: the logs of `k3f9x2ab:plan#1!2` are in `k3f9x2ab-plan-1-2`. */
function lastCheck(gates: string, at: string): string | undefined {
  const prefix = logsName(`${at}!`);
  const number = (name: string): number => Number(name.slice(prefix.length));
  try {
    return readdirSync(gates)
      .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
      .sort((one, other) => number(other) - number(one))[0];
  } catch {
    return undefined;
  }
}
