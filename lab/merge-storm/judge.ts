import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event, State } from '../../src/machine/index.ts';
import type { Person } from './person.ts';
import { type Plan, visitedFile } from './plan.ts';
import { type Stage, setUp } from './stage.ts';

export interface Verdict {
  lost: string[];
  /** The gates are red on the branch of the run, and the run does not say why. */
  red: string[];
  /** Worktrees that hold nothing. */
  stranded: string[];
  merged: number;
  parked: number;
  failed: { conflict: number; red: number };
  held: string[];
  /** Why open tasks wait. */
  waits: string[];
}

/** Compares what everybody did with what is in the repository now. */
export async function judge(plan: Plan, stage: Stage, person: Person): Promise<Verdict> {
  const { runtime, run, folder, git, root, branch, directory, env } = stage;
  const view = await runtime.engine.view(run);
  if (!view) throw new Error('the run is gone');
  const { state } = view;
  const events = (await runtime.engine.entries(run)).flatMap((entry) => entry.events);
  const verdict: Verdict = {
    lost: [],
    red: [],
    stranded: [],
    merged: 0,
    parked: Object.values(state.merges ?? {}).filter((merge) => merge.state === 'parked').length,
    failed: { conflict: 0, red: 0 },
    waits: reasonsIn(state),
    held: events.flatMap((event) => (event.type === 'queue.held' ? [event.why] : [])),
  };
  for (const event of events) if (event.type === 'merge.failed') verdict.failed[event.why] += 1;
  /** Merged without receipts: a driver that was killed had checked it. */
  const unchecked: string[] = [];
  const byId = state.tasks.work?.byId ?? {};
  const isDone = (task: string): boolean => byId[task]?.end === 'done';
  verdict.merged = plan.tasks.filter(({ id }) => isDone(id)).length;
  await judgeCommits();
  await judgeFiles();
  judgeOrder();
  await judgeFailures();
  await judgeGates();
  await judgeWorktrees();
  return verdict;

  async function judgeCommits(): Promise<void> {
    const heads = (await git(root, 'worktree', 'list', '--porcelain'))
      .split('\n')
      .flatMap((line) => (line.startsWith('HEAD ') ? line.slice(5) : []));
    const kept = new Set((await git(root, 'rev-list', '--all', ...heads)).split('\n'));
    const onBranch = new Set((await git(root, 'rev-list', branch)).split('\n'));
    for (const [task = '', commit = ''] of linesOf('commits')) {
      if (!kept.has(commit)) verdict.lost.push(`the commit ${commit} of ${task} is gone`);
      else if (isDone(task) && !onBranch.has(commit))
        verdict.lost.push(`${task} counts as merged, but its commit ${commit} is not on the branch`);
    }
    for (const commit of person.commits)
      if (!onBranch.has(commit)) verdict.lost.push(`the commit ${commit} of the person is not on the branch`);
  }

  async function judgeFiles(): Promise<void> {
    for (const [task = '', what = ''] of linesOf('did')) {
      const { file, text } = traceOf(task, what);
      const places = isDone(task) ? [branch] : [`stepfast/${run}/task/${task}`];
      const worktree = runtime.workspace.taskWorktree(run, task);
      const found =
        (!isDone(task) && worktree !== undefined && has(join(worktree, file), text)) ||
        (await Promise.all(places.map((place) => hasIn(place, file, text)))).some(Boolean);
      if (!found) verdict.lost.push(`${file} of ${task}, which is ${isDone(task) ? 'merged' : 'not merged'}`);
    }
    for (const [task = ''] of linesOf('visited')) {
      const worktree = runtime.workspace.taskWorktree(run, task);
      const isKept =
        (worktree !== undefined && has(join(worktree, visitedFile), task)) ||
        (await hasIn(isDone(task) ? branch : `stepfast/${run}/task/${task}`, visitedFile, task));
      if (!isKept) verdict.lost.push(`the person's file in the worktree of ${task}`);
    }
    for (const [path, text] of person.files)
      if (!existsSync(path) || readFileSync(path, 'utf8') !== text)
        verdict.lost.push(`the person's uncommitted ${path}`);
  }

  async function hasIn(place: string, file: string, text: string): Promise<boolean> {
    if (file.startsWith('lib/')) {
      const [, , commit = ''] = (await git(root, 'ls-tree', place, 'lib')).split(/\s+/);
      const clones = [join(root, 'lib'), runtime.workspace.taskWorktree(run, place.split('/').at(-1) ?? '')];
      for (const clone of [join(directory, 'library.git'), ...clones])
        if (clone !== undefined && (await shows(clone, `${commit}:${file.slice(4)}`, text))) return true;
      return false;
    }
    return await shows(root, `${place}:${file}`, text);
  }

  async function shows(cwd: string, what: string, text: string): Promise<boolean> {
    return (await git(cwd, 'show', what).catch(() => '')).split('\n').some((line) => line.includes(text));
  }

  /** Nothing began before what it depends on was merged. */
  function judgeOrder(): void {
    for (const line of linesOf('early')) verdict.lost.push(line.join(' '));
    const merged = new Set<string>();
    /** Merges that the driver of this moment has begun. */
    const started = new Set<string>();
    for (const event of events) {
      if (event.type === 'task.ended') merged.add(event.task);
      const task = claimedBy(event);
      const early = plan.tasks.find(({ id }) => id === task)?.dependsOn.find((each) => !merged.has(each));
      if (early !== undefined) verdict.lost.push(`${task} was claimed before ${early} was merged`);
      if (event.type === 'driver.taken') started.clear();
      if (event.type === 'merge.started' && event.base !== event.commit) started.add(event.task);
      if (event.type !== 'merge.finished' || event.receipts.length > 0) continue;
      unchecked.push(event.commit);
      if (started.has(event.task)) verdict.red.push(`${event.task} was merged unchecked`);
    }
  }

  /** What is wrong with the base is not counted against a task. */
  async function judgeFailures(): Promise<void> {
    const bases = new Map<string, string>();
    for (const event of events) {
      if (event.type === 'merge.started') bases.set(event.task, event.base);
      if (event.type !== 'merge.failed' || event.why !== 'red') continue;
      const base = bases.get(event.task) ?? '';
      if ((await git(root, 'ls-tree', '--name-only', base, 'broken')) !== '')
        verdict.red.push(`${event.task} failed because ${base} is broken`);
    }
  }

  async function judgeGates(): Promise<void> {
    const clone = join(directory, 'clone');
    await git(directory, 'clone', '-q', '--recurse-submodules', '-b', branch, root, clone);
    const isWaiting = state.paused ?? state.held ?? state.blocked;
    const problem = checkIn(clone);
    if (problem !== undefined && isWaiting === undefined)
      verdict.red.push(`the gates are red at the end: ${problem}`);
    for (const commit of new Set(unchecked)) {
      await git(clone, 'checkout', '-q', '--detach', commit);
      await git(clone, 'submodule', '--quiet', 'update', '--init');
      const found = checkIn(clone);
      if (found !== undefined) verdict.red.push(`${commit} was merged, and is red: ${found}`);
    }
    const open = plan.tasks.filter(({ id }) => !isDone(id));
    for (const { id } of open)
      if (isWaiting === undefined && !isExplained(id))
        verdict.red.push(`${id} is open, and nothing says why`);
    if (open.length === 0 && state.status !== 'complete')
      verdict.red.push(`all is merged, but the run is ${state.status}`);
  }

  function checkIn(cwd: string): string | undefined {
    try {
      execFileSync('sh', ['-c', `${setUp} && sh check.sh`], { cwd, env, stdio: 'pipe' });
      return undefined;
    } catch (error) {
      return String((error as { stdout?: Buffer }).stdout);
    }
  }

  /** It waits for a person, or for a task that does. */
  function isExplained(task: string): boolean {
    const waits = Object.values(state.cursors).some((cursor) => cursor.task === task && cursor.waiting);
    const needed = plan.tasks.find(({ id }) => id === task)?.dependsOn ?? [];
    const isParked = state.merges?.[task]?.state === 'parked';
    return waits || isParked || needed.some((each) => !isDone(each) && isExplained(each));
  }

  async function judgeWorktrees(): Promise<void> {
    const known = (await git(root, 'worktree', 'list', '--porcelain'))
      .split('\n')
      .flatMap((line) => (line.startsWith('worktree ') ? line.slice(9) : []));
    for (const path of known)
      if (!existsSync(path)) verdict.stranded.push(`${path} is known to git, but gone`);
    const folder = runtime.project.worktrees;
    const ofRun = join(folder, run);
    const tasks = join(ofRun, 'task');
    const paths = [
      ...(state.status === 'complete' ? [join(ofRun, 'merge')] : []),
      ...(existsSync(tasks) ? readdirSync(tasks).map((name) => join(tasks, name)) : []),
    ].filter((path) => existsSync(path));
    for (const path of paths) {
      if (!known.includes(path)) {
        verdict.stranded.push(`${path} is no worktree`);
        continue;
      }
      const isClean = (await git(path, 'status', '--porcelain')) === '';
      const ahead = await git(path, 'rev-list', '-n1', 'HEAD', '--not', branch);
      if (isClean && ahead === '') verdict.stranded.push(`${path} holds nothing`);
    }
  }

  function linesOf(name: string): string[][] {
    const path = join(folder, name);
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => line.split(' '));
  }
}

/** Where the work of a task shows. */
function traceOf(task: string, what: string): { file: string; text: string } {
  if (what === 'entry') return { file: `entries/${task}.txt`, text: `work of ${task}` };
  if (what === 'shared') return { file: 'shared.txt', text: task };
  if (what === 'number') return { file: `numbers/${task}.txt`, text: '' };
  if (what === 'lock') return { file: `parts/${task}/package-lock.json`, text: task };
  return { file: `lib/${task}.txt`, text: task };
}

const has = (path: string, text: string): boolean =>
  existsSync(path) && readFileSync(path, 'utf8').includes(text);

const claimedBy = (event: Event): string | undefined =>
  event.type === 'position.entered' ? event.task : undefined;

/** What the run says to the person. */
const reasonsIn = ({ paused, held, merges = {}, cursors, blocked }: State): string[] => [
  ...(paused ? [`paused by ${paused.by}`] : []),
  ...(held ? [held.reason] : []),
  ...(blocked === undefined ? [] : [blocked]),
  ...Object.entries(merges).flatMap(([task, { state, reason }]) =>
    state === 'parked' ? [`${task} is parked: ${reason}`] : [],
  ),
  ...Object.values(cursors).flatMap(({ path, waiting }) =>
    waiting ? [`${path}: ${waiting.kind === 'blocked' ? waiting.reason : waiting.kind}`] : [],
  ),
];
