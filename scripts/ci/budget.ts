/**
 * What a run of CI may cost: `node scripts/ci/budget.ts FOLDER` compares what `.ci/run` noted there with `.ci/budget.json`.
 * Counts decide. CPU time counts only if it's far over, because machines differ, and other programs slow the same machine
 * during a run. So all the time, `node scripts/ci/budget.ts time FILE` measures what tests mostly do: start Node and work
 * on objects and text. (Simple arithmetic shows nothing: it stays fast while memory and kernel are slow.)
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Usage {
  processes: number;
  /** Started agent programs by name. */
  sessions: Readonly<Record<string, number>>;
  cpuSeconds: number;
  /** CPU seconds of the measured work during the step, on average. */
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

/** Each takes about a quarter of a CPU second. */
const secondsBetweenSamples = 8;

/** Appends the time and the CPU seconds of one sample after the other, until it's ended. */
async function takeSamples(file: string): Promise<void> {
  const program = fileURLToPath(import.meta.url);
  for (;;) {
    const seconds = execFileSync(process.execPath, [program, 'work'], { encoding: 'utf8' }).trim();
    appendFileSync(file, `${Date.now() / 1000}\t${seconds}\n`);
    await sleep(secondsBetweenSamples * 1000);
  }
}

/** The CPU seconds that this process needed for it and its own start. */
function work(): number {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `row ${n}`, tags: [n, `${n * 7}`] }));
  const copy: typeof rows = JSON.parse(JSON.stringify(rows));
  const byTag = new Map(copy.map((row) => [row.tags.join(), row]));
  const found = sum(rows.map(({ tags }) => byTag.get(tags.join())?.id.split(/\s/).length ?? 0));
  const { user, system } = process.cpuUsage();
  // The use of the result keeps the work.
  return (user + system) / 1e6 + (found === 1 ? 1 : 0);
}

function usageIn(folder: string): Record<string, Usage> {
  const steps: Record<string, Usage> = {};
  const samples = linesOf(join(folder, 'samples')).map((line) => line.split('\t').map(Number));
  for (const line of linesOf(join(folder, 'cpu'))) {
    const [step = '', ...numbers] = line.split('\t');
    const [from = 0, before = 0, to = 0, after = 0] = numbers.map(Number);
    const during = samples.filter(([at = 0]) => at >= from && at <= to);
    const sessions: Record<string, number> = {};
    for (const agent of linesOf(join(folder, `sessions.${step}`)))
      sessions[agent] = (sessions[agent] ?? 0) + 1;
    const accounts = join(folder, `account.${step}`);
    steps[step] = {
      processes: existsSync(accounts) ? statSync(accounts).size / recordBytes - during.length : 0,
      sessions,
      cpuSeconds: Math.round(after - before),
      loop: meanSeconds(during.length > 0 ? during : samples),
    };
  }
  return steps;
}

const meanSeconds = (samples: readonly number[][]): number =>
  sum(samples.map(([, seconds = 0]) => seconds)) / samples.length;

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , first = '', file = ''] = process.argv;
  if (first === 'work') console.log(work());
  else if (first === 'time') await takeSamples(file);
  else compare(first);
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
