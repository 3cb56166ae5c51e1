import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/machine/index.ts';
import { runWorktree, taskWorktree } from '../../src/workspace/index.ts';
import { createDriverStage, type DriverStage } from '../kit/driver-run.ts';
import { Dice } from '../properties/dice.ts';
import { answerAnything, killedFiles, steps, tasks } from './driver-workflow.ts';

/** What the driver was at when it was killed. */
type Moment = 'any' | 'setup' | 'gates' | 'compaction' | 'merge';

/** Those that are ahead of a run at this step: else most kills would be of its beginning. */
function momentsAt(step: string | undefined): readonly Moment[] {
  if (step === undefined) return ['any', 'setup'];
  if (step === 'each') return ['any', 'setup', 'gates', 'merge', 'merge'];
  return step === 'last' ? ['any', 'gates'] : ['any', 'gates', 'compaction', 'compaction'];
}

export interface DriverKillReport {
  kills: number;
  runs: number;
  /** Kills by the moment that they were meant for, if it came. */
  at: Record<Moment, number>;
  worktreesLeft: number;
  acceptedTwice: number;
  startedTwice: number;
  staleReceipts: number;
  lost: number;
  processesLeft: number;
  findings: string[];
}

/** A moment that does not come by then is not waited for. */
const momentMs = 40_000;
const anyMs = 8_000;
const afterwardsMs = 700;
/** No run needs more drivers than this, however often they are killed. */
const mostLives = 80;
const quietMs = 15_000;
/** A driver that is not killed has completed its run by then, or it hangs. */
const lateMs = 200_000;

/** Kills drivers at random moments and starts them again, until so many were killed and the last run is complete. */
export async function killDrivers({
  kills,
  seed = 1,
  lanes = 2,
}: {
  kills: number;
  seed?: number;
  /** Projects at once. */
  lanes?: number;
}): Promise<DriverKillReport> {
  const report: DriverKillReport = {
    kills: 0,
    runs: 0,
    at: { any: 0, setup: 0, gates: 0, compaction: 0, merge: 0 },
    worktreesLeft: 0,
    acceptedTwice: 0,
    startedTwice: 0,
    staleReceipts: 0,
    lost: 0,
    processesLeft: 0,
    findings: [],
  };
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const dice = new Dice(seed * 1_000 + lane);
      while (report.kills < kills) {
        const stage = await createDriverStage(killedFiles);
        try {
          answerAnything(stage.model);
          report.runs += 1;
          await playRun(stage, { dice, report, isEnough: () => report.kills >= kills });
        } finally {
          await stage[Symbol.asyncDispose]();
        }
      }
    }),
  );
  return report;
}

interface Play {
  dice: Dice;
  report: DriverKillReport;
  isEnough(): boolean;
}

async function playRun(stage: DriverStage, { dice, report, isEnough }: Play): Promise<void> {
  for (let life = 0; life < mostLives; life += 1) {
    const id = (await stage.run())?.run;
    const driver = stage.start([...(id === undefined ? ['w'] : ['--run', id]), '--no-wait']);
    let isOver = false;
    void driver.ended.then(() => {
      isOver = true;
    });
    const moment = dice.pick(momentsAt((await stage.run())?.state.step)) ?? 'any';
    const momentCame = isEnough() ? undefined : await waitFor(stage, moment, dice, () => isOver);
    if (momentCame === undefined || isOver) {
      const late = setTimeout(() => void describeRun(stage, report), lateMs);
      const { code, stdout, stderr } = await driver.ended;
      clearTimeout(late);
      if (code === 0) return await judge(stage, report);
      report.lost += 1;
      report.findings.push(`exit ${code}: ${`${stdout}${stderr}`.slice(-3000)}`);
      return await describeRun(stage, report);
    }
    driver.child.kill('SIGKILL');
    await driver.ended;
    report.kills += 1;
    if (momentCame) report.at[moment] += 1;
  }
  report.lost += 1;
  report.findings.push(`not complete after ${mostLives} drivers`);
}

/** Waits for the moment, and a little longer; whether it came. */
async function waitFor(
  stage: DriverStage,
  moment: Moment,
  dice: Dice,
  isOver: () => boolean,
): Promise<boolean> {
  const extra = dice.roll(afterwardsMs);
  const until = Date.now() + (moment === 'any' ? dice.roll(anyMs) : momentMs);
  const before = countOf(stage, moment);
  let came = moment === 'any';
  while (Date.now() < until && !isOver()) {
    came ||= countOf(stage, moment) > before;
    if (came && moment !== 'any') break;
    await sleep(20);
  }
  await sleep(extra);
  return came;
}

function countOf({ model, env }: DriverStage, moment: Moment): number {
  if (moment === 'any') return 0;
  if (moment === 'compaction') return model.requestsOf('summariser').length;
  return linesIn(env, { setup: 'setups', gates: 'gates', merge: 'merges' }[moment]);
}

function linesIn({ HOME = '' }: DriverStage['env'], name: string): number {
  const file = join(HOME, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

/** For a person who looks for the cause. */
async function describeRun(stage: DriverStage, { findings }: DriverKillReport): Promise<void> {
  const events = await stage.events();
  findings.push(...events.slice(-15).map((event) => JSON.stringify(event).slice(0, 400)));
  findings.push(JSON.stringify((await stage.run())?.state.cursors));
  findings.push(...withHome(stage.env.HOME ?? '').map((command) => `running: ${command}`));
}

/** A run that says it is complete: what must be true then. */
async function judge(stage: DriverStage, report: DriverKillReport): Promise<void> {
  const view = await stage.run();
  const events = await stage.events();
  const { project } = stage.project.runtime();
  const branch = view?.state.branch ?? '';
  const find = (counter: 'lost' | 'acceptedTwice' | 'startedTwice' | 'staleReceipts', what: string): void => {
    report[counter] += 1;
    report.findings.push(`${counter}: ${what}`);
  };
  if (view?.state.status !== 'complete') find('lost', `the run is ${view?.state.status}`);
  for (const at of twice(events.flatMap(accepted))) find('acceptedTwice', at);
  const starts = linesIn(stage.env, 'once');
  if (starts !== 1) find('startedTwice', `the command that must run once was started ${starts} times`);
  for (const file of [...steps, ...tasks])
    if (!has(stage, `${branch}:${file}.txt`)) find('lost', `${file}.txt is not on ${branch}`);
  for (const what of await staleIn(stage, events)) find('staleReceipts', what);
  const left = tasks.filter((task) => taskWorktree(project, view?.run ?? '', task) !== undefined);
  report.worktreesLeft += left.length;
  report.findings.push(...left.map((task) => `the worktree of ${task} is left`));
  const processes = await processesLeft(stage.env.HOME ?? '');
  report.processesLeft += processes.length;
  report.findings.push(...processes.map((command) => `left: ${command}`));
}

const accepted = (event: Event): string[] => {
  if (event.type === 'position.completed') return [event.at];
  return event.type === 'merge.finished' || event.type === 'task.ended'
    ? [`${event.type} ${event.task}`]
    : [];
};

const twice = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

function has({ git }: DriverStage, object: string): boolean {
  try {
    git('cat-file', '-e', object);
    return true;
  } catch {
    return false;
  }
}

/** Receipts of another tree than that which was accepted; the trees that can still be read are hashed again. */
async function staleIn(stage: DriverStage, events: readonly Event[]): Promise<string[]> {
  const view = await stage.run();
  const { workspace, project } = stage.project.runtime();
  const hashIn = async (worktree: string): Promise<string | undefined> =>
    view && (await workspace.tree(view.definition, worktree))?.hash;
  const stale: string[] = [];
  for (const event of events) {
    if (event.type !== 'position.completed' && event.type !== 'merge.finished') continue;
    const name = event.type === 'merge.finished' ? `merge of ${event.task}` : event.at;
    for (const { what, pass, tree } of event.receipts)
      if (!pass || tree !== event.tree) stale.push(`${name}: ${what} (${tree}, ${event.tree})`);
    if (event.type === 'position.completed' || event.tree === undefined) continue;
    const found = await atCommit(stage, event.commit, hashIn);
    if (found !== event.tree) stale.push(`${name}: ${event.tree}, but ${event.commit} has ${found}`);
  }
  const last = events.findLast((event) => event.type === 'position.completed');
  const worktree = runWorktree(project, view?.run ?? '');
  const now = worktree === undefined ? undefined : await hashIn(worktree);
  if (last?.tree === undefined || last.tree !== now) stale.push(`the end: ${last?.tree}, but it is ${now}`);
  return stale;
}

async function atCommit<T>(
  { git }: DriverStage,
  commit: string,
  read: (worktree: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-kill-tree-'));
  const worktree = join(folder, 'tree');
  try {
    git('worktree', 'add', '-q', '--detach', worktree, commit);
    return await read(worktree);
  } finally {
    git('worktree', 'remove', '--force', worktree);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Processes of the run's home directory, once those that are about to end have ended. */
async function processesLeft(home: string): Promise<string[]> {
  const until = Date.now() + quietMs;
  for (;;) {
    const found = withHome(home);
    if (found.length === 0 || Date.now() > until) return found;
    await sleep(100);
  }
}

function withHome(home: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (!environment.includes(`HOME=${home}`)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()];
    } catch {
      // It has ended, or belongs to another user.
      return [];
    }
  });
}
