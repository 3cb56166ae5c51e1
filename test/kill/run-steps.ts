import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, parseHandle } from '../../src/machine/index.ts';
import { createTestFolder, type TestProject } from '../../src/testing/index.ts';
import { Dice } from '../properties/dice.ts';
import type { Finding } from '../sim/ledger.ts';
import { buildWorker, type Child, startChild } from './child.ts';
import { isOf } from './process-of.ts';
import type { RunLine } from './run-worker.ts';

export interface RunStepReport {
  /** Of processes that wait for a command, and of those that run one. */
  workerKills: number;
  runnerKills: number;
  runs: number;
  /** Commands that were started. */
  starts: number;
  /** Commands that were started again for one visit, and may be: their step is idempotent. */
  startedAgain: number;
  /** The same, and must not be. */
  startedTwice: number;
  /** How often a run waited, because its command may have run. */
  waits: number;
  findings: Finding[];
}

const ids = ['once1', 'again1', 'once2', 'again2'];
const isIdempotent = (step: string): boolean => step.startsWith('again');

/** A command tells by itself that it was started: the path of the outputs has the run, the step, the visit and the check. */
const command = `echo "$STEPFAST_OUTPUTS" >> "$HOME/starts"; sleep 0.3; echo done`;
const workflowOf = (steps: readonly string[]): string => `name: killed
description: Commands of the engine
steps:
${steps
  .map(
    (id) => `  - { id: ${id}, type: run, idempotent: ${isIdempotent(id)}, run: ${JSON.stringify(command)} }`,
  )
  .join('\n')}
`;

/** A run whose processes are left alone ends within this time. */
const endMs = 180_000;

/**
 * Kills the processes of runs whose steps are commands: the one that waits for a command and decides where a person
 * must, and the one that runs it. Each command is counted by the line that it writes.
 */
export async function killRunSteps({
  kills,
  lanes = 6,
  seed = 1,
}: {
  kills: number;
  /** Projects at once: mostly they wait. */
  lanes?: number;
  seed?: number;
}): Promise<RunStepReport> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-kill-run-'));
  const script = await buildWorker(directory, 'run-worker');
  const report: RunStepReport = {
    workerKills: 0,
    runnerKills: 0,
    runs: 0,
    starts: 0,
    startedAgain: 0,
    startedTwice: 0,
    waits: 0,
    findings: [],
  };
  const isEnough = (): boolean => report.workerKills + report.runnerKills >= kills;
  try {
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        const dice = new Dice(seed * 1_000 + lane);
        // The first steps of a run see most of the kills.
        const workflow = workflowOf(lane % 2 === 0 ? ids : ids.toReversed());
        while (!isEnough()) {
          const project = createTestFolder({ '.stepfast/workflows/killed.yaml': workflow });
          try {
            project.trust('killed');
            await playRun({ script, project, dice, report, isEnough });
          } finally {
            project[Symbol.dispose]();
          }
        }
      }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return report;
}

interface Play {
  script: string;
  project: TestProject;
  dice: Dice;
  report: RunStepReport;
  isEnough(): boolean;
}

async function playRun({ script, project, dice, report, isEnough }: Play): Promise<void> {
  const runner = { program: process.execPath, args: [script, 'gate-runner'] };
  const { start, engine } = project.runtime({ runner });
  const { run = '' } = await start({ workflow: 'killed' }, { session: 'before' });
  report.runs += 1;
  let ended: string | undefined;
  /** The last kill. */
  let disturbed = Date.now();
  const told = (line: RunLine): void => {
    if (line.type === 'failed') report.findings.push({ kind: 'wrong', what: line.what });
    ended = line.type === 'ended' ? line.status : 'lost';
  };
  const isOver = (): boolean => ended !== undefined;
  await Promise.all([killWorkers(), killRunners()]);
  if (ended !== 'complete') report.findings.push({ kind: 'wrong', what: `${run} ended as ${ended}` });
  const events = (await engine.entries(run)).flatMap((entry) => entry.events);
  audit(events, linesOf(project, 'starts'), report);

  async function killWorkers(): Promise<void> {
    while (!isOver()) {
      const { root: cwd, env } = project;
      const worker = startChild<RunLine>(script, ['wait', run], told, { cwd, env });
      await lifeOf(worker);
      if (await worker.gone) report.workerKills += 1;
      else if (!isOver()) {
        report.findings.push({ kind: 'wrong', what: 'a worker ended by itself' });
        ended = 'lost';
      }
    }
  }

  /** Until it is killed or has ended. Not more of them are killed than of the others, which take longer to get ready. */
  async function lifeOf(worker: Child): Promise<void> {
    const gone = worker.gone.then(() => 'gone');
    for (;;) {
      // Some live long enough to miss a runner that died before it began.
      const life = sleep(dice.roll(dice.pick([200, 1_000, 14_000]) ?? 1), 'over', { ref: false });
      if ((await Promise.race([life, gone])) === 'gone') return;
      const isLate = Date.now() - disturbed > endMs;
      if (isLate) {
        report.findings.push({ kind: 'wrong', what: `${run} does not end` });
        ended = 'lost';
      }
      if (!isLate && (isEnough() || report.workerKills > report.runnerKills)) continue;
      disturbed = Date.now();
      return worker.kill();
    }
  }

  async function killRunners(): Promise<void> {
    let known = 0;
    while (!isOver()) {
      await sleep(10);
      const pids = linesOf(project, 'runners').map(Number);
      for (const pid of pids.slice(known)) if (!dice.one(4)) void killRunner(pid);
      known = pids.length;
    }
  }

  /** Half of the deaths come at any moment, the others while a command runs. */
  async function killRunner(pid: number): Promise<void> {
    if (dice.one(2)) {
      const before = linesOf(project, 'starts').length;
      for (let tries = 0; tries < 200 && linesOf(project, 'starts').length === before; tries += 1)
        await sleep(10);
      await sleep(dice.roll(300));
    } else await sleep(dice.roll(500));
    if (isEnough() || isOver() || !isOf(pid, [script, run])) return;
    try {
      process.kill(pid, 'SIGKILL');
      disturbed = Date.now();
      report.runnerKills += 1;
    } catch {
      // It ended this very moment.
    }
  }
}

function linesOf({ home }: TestProject, file: string): string[] {
  try {
    return readFileSync(join(home, file), 'utf8').split('\n').slice(0, -1);
  } catch {
    // Nothing was written yet.
    return [];
  }
}

/** Holds the journal against what the commands have written. */
function audit(events: readonly Event[], lines: readonly string[], report: RunStepReport): void {
  const wrong = (what: string): void => void report.findings.push({ kind: 'wrong', what });
  /** Handles by the folder of a check, whose name is its id. */
  const checks = new Map<string, { at: string; isStarted: boolean; starts: number }>();
  const folderOf = (id: string): string => id.replaceAll(/[^\w.-]+/g, '-');
  for (const event of events) {
    if (event.type === 'gates.requested')
      checks.set(folderOf(event.id), { at: event.at, isStarted: false, starts: 0 });
    if (event.type === 'position.blocked') report.waits += 1;
    const check = event.type === 'gates.started' ? checks.get(folderOf(event.id)) : undefined;
    if (check) check.isStarted = true;
  }
  for (const line of lines) {
    const folder = line.split('/').at(-2) ?? '';
    const check = checks.get(folder);
    if (!check?.isStarted) wrong(`${folder} ran before its start was acknowledged`);
    if (check) check.starts += 1;
  }
  const visits = Map.groupBy(checks.values(), ({ at }) => at);
  for (const [at, ofVisit] of visits) {
    const starts = ofVisit.reduce((sum, check) => sum + check.starts, 0);
    report.starts += starts;
    const more = Math.max(0, starts - 1);
    const twice = ofVisit.find((check) => check.starts > 1);
    if (twice || (more > 0 && !isIdempotent(parseHandle(at)?.path ?? ''))) {
      report.startedTwice += 1;
      report.findings.push({ kind: 'twice', what: `${at} was started ${starts} times` });
    } else report.startedAgain += more;
  }
  for (const event of events)
    if (event.type === 'position.completed' && !visits.get(event.at)?.some(({ starts }) => starts > 0))
      wrong(`${event.at} is complete, but its command never ran`);
}
