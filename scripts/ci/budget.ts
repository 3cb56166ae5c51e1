/**
 * What a run of CI may cost: `node scripts/ci/budget.ts FOLDER` compares what `.ci/run` noted there with `.ci/budget.json`.
 * Counts decide. CPU time counts only if it's far over, because machines differ, and the same machine changes within a
 * run. So `.ci/run` times a loop before and after each step: `node scripts/ci/budget.ts` prints its CPU seconds.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Usage {
  processes: number;
  /** Started agent programs by name. */
  sessions: Readonly<Record<string, number>>;
  cpuSeconds: number;
  /** CPU seconds of the loop, the mean of before and after. */
  loop: number;
}

export interface Budget {
  /** By step of CI. */
  steps: Readonly<Record<string, Usage>>;
  /** Steps that run only if what they test changed. */
  ifChanged: Readonly<Record<string, Usage>>;
  /** One reason for each time that a number was raised. */
  raised: readonly { step: string; reason: string }[];
}

const cores = 2;
const mostMinutes = 25;
const cpuTolerance = 1.4;
/** Seconds. Short steps differ more. */
const cpuGrace = 5;

/** One line for each limit that is broken. */
export function overBudget(budget: Budget, measured: Budget['steps']): string[] {
  const lines = Object.keys(budget.steps).flatMap((step) =>
    step in measured ? [] : [`${step}: did not run`],
  );
  for (const [step, used] of Object.entries(measured)) {
    const allowed = budget.steps[step] ?? budget.ifChanged[step];
    if (!allowed) {
      lines.push(`${step}: has no budget`);
      continue;
    }
    if (used.processes === 0) lines.push(`${step}: its processes were not counted`);
    const over = (what: string, is: number, may: number): void => {
      if (!(is <= may)) lines.push(`${step}: ${what} ${is}, at most ${may}`);
    };
    over('processes', used.processes, allowed.processes);
    for (const [agent, sessions] of Object.entries(used.sessions))
      over(`sessions of ${agent}`, sessions, allowed.sessions[agent] ?? 0);
    const comparable = (used.cpuSeconds * allowed.loop) / used.loop;
    over('CPU seconds', Math.round(comparable), Math.round(allowed.cpuSeconds * cpuTolerance + cpuGrace));
  }
  const minutes = sum(Object.values(budget.steps).map(({ cpuSeconds }) => cpuSeconds)) / cores / 60;
  if (minutes > mostMinutes) lines.push(`all steps: ${minutes.toFixed(1)} minutes, at most ${mostMinutes}`);
  return lines;
}

/** The steps with a raised number, if no reason was added. */
export function raisedWithoutReason(budget: Budget, before: Budget): string[] {
  if (budget.raised.length > before.raised.length) return [];
  const limits = ({ steps, ifChanged }: Budget) => Object.entries({ ...ifChanged, ...steps });
  const earlier = new Map(limits(before));
  return limits(budget).flatMap(([step, now]) => {
    const was = earlier.get(step);
    const isMore =
      was &&
      (now.processes > was.processes ||
        now.cpuSeconds / now.loop > was.cpuSeconds / was.loop ||
        Object.entries(now.sessions).some(([agent, count]) => count > (was.sessions[agent] ?? 0)));
    return isMore ? [`${step}: raised without a reason`] : [];
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Of one process in the kernel's accounting, `accton`. */
const recordBytes = 64;

function loop(): number {
  const before = process.cpuUsage();
  let hash = 0;
  for (let n = 0; n < 200_000_000; n += 1) hash = (hash * 31 + n) | 0;
  const { user, system } = process.cpuUsage(before);
  // The use of the result keeps the loop.
  return (user + system) / 1e6 + (hash === 1 ? 1 : 0);
}

function usageIn(folder: string): Record<string, Usage> {
  const steps: Record<string, Usage> = {};
  for (const line of linesOf(join(folder, 'cpu'))) {
    const [step = '', before, after, ...loops] = line.split('\t');
    const sessions: Record<string, number> = {};
    for (const agent of linesOf(join(folder, `sessions.${step}`)))
      sessions[agent] = (sessions[agent] ?? 0) + 1;
    const accounts = join(folder, `account.${step}`);
    steps[step] = {
      processes: existsSync(accounts) ? statSync(accounts).size / recordBytes : 0,
      sessions,
      cpuSeconds: Math.round(Number(after) - Number(before)),
      loop: sum(loops.map(Number)) / loops.length,
    };
  }
  return steps;
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv;
  if (folder === undefined) console.log(loop());
  else compare(folder);
}

function compare(folder: string): void {
  process.chdir(join(import.meta.dirname, '../..'));
  const file = '.ci/budget.json';
  const budget: Budget = JSON.parse(readFileSync(file, 'utf8'));
  const measured = usageIn(folder);
  console.log(JSON.stringify(measured, null, 1));
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const earlier = git('log', '-n1', '--skip=1', '--format=%H', '--', file);
  const before: Budget = earlier === '' ? budget : JSON.parse(git('show', `${earlier}:${file}`));
  const lines = [...overBudget(budget, measured), ...raisedWithoutReason(budget, before)];
  for (const line of lines) console.log(`over budget: ${line}`);
  if (lines.length > 0) process.exitCode = 1;
}
