import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PersonPlan, Plan } from './plan.ts';
import type { Stage } from './stage.ts';

/** Works on the branch of the run while the driver does, and puts right what only a person can. */
export interface Person {
  /** Does what is planned for this moment. */
  after(merged: number): Promise<void>;
  /** Looks at a run that waits. True if anything was changed. */
  help(): Promise<boolean>;
  /** All that this person has committed. */
  readonly commits: string[];
  /** Uncommitted files that must be there at the end, by path. */
  readonly files: ReadonlyMap<string, string>;
}

export function createPerson(plan: Plan, stage: Stage): Person {
  const { root, worktree, branch, git, directory } = stage;
  const isDetached = plan.hazards.includes('notCheckedOut');
  /** Where this person has the branch of the run, or a copy of it. */
  const desk = isDetached ? join(directory, 'desk') : worktree;
  const open = [...plan.person];
  const commits: string[] = [];
  const files = new Map<string, string>();
  /** Uncommitted files that are in the way of the queue. */
  const dirty = new Set<string>();
  let before: string | undefined;
  let number = 0;
  let last: Promise<unknown> = Promise.resolve();
  const own = join(root, 'notes.txt');
  writeFileSync(own, 'changed, not committed\n');
  files.set(own, 'changed, not committed\n');
  const actions: Record<PersonPlan['does'], () => Promise<void>> = {
    commit: () => {
      number += 1;
      const name = `of-person-${number}.txt`;
      return commit(`work ${number}`, [name], () => writeFileSync(join(desk, name), 'x\n'));
    },
    break: () => create('broken'),
    makeNoise: () => create('noisy'),
    dirty: makeDirty,
    rewind,
  };
  return { after, help, commits, files };

  async function sitDown(): Promise<void> {
    if (isDetached && !existsSync(desk)) await git(root, 'worktree', 'add', '-q', '--detach', desk, branch);
  }

  /** One thing at a time. */
  function after(merged: number): Promise<void> {
    const now = open.filter((each) => each.after <= merged);
    for (const each of now) open.splice(open.indexOf(each), 1);
    return inTurn(async () => {
      await sitDown();
      // What was taken off the branch comes back before anything else.
      for (const each of now)
        if (before === undefined) await actions[each.does]();
        else open.push(each);
    });
  }

  function help(): Promise<boolean> {
    return inTurn(async () => {
      await sitDown();
      let helped = false;
      if (before !== undefined) {
        const head = before;
        before = undefined;
        await putBack(head);
        helped = true;
      }
      if (dirty.size > 0) {
        const names = [...dirty];
        dirty.clear();
        await commit('what was in the way', names);
        helped = true;
      }
      for (const name of ['broken', 'noisy'])
        if ((await git(root, 'ls-tree', '--name-only', branch, name)) !== '') {
          await commit(`no longer ${name}`, [name], () => rmSync(join(desk, name), { force: true }));
          helped = true;
        }
      return helped;
    });
  }

  function inTurn<T>(job: () => Promise<T>): Promise<T> {
    const result = last.then(job);
    last = result.catch(() => {});
    return result;
  }

  /** Git is locked now and then, by the driver. */
  async function patiently<T>(job: () => Promise<T>): Promise<T> {
    for (let round = 0; ; round += 1)
      try {
        return await job();
      } catch (error) {
        if (round > 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
  }

  async function commit(message: string, names: string[], write: () => void = () => {}): Promise<void> {
    await patiently(async () => {
      if (isDetached) {
        await git(desk, 'checkout', '-q', '--detach', branch);
      }
      const base = await git(desk, 'rev-parse', 'HEAD');
      write();
      await git(desk, 'add', '-A', '--', ...names);
      await git(desk, 'commit', '-q', '-m', message, '--', ...names);
      const head = await git(desk, 'rev-parse', 'HEAD');
      if (isDetached) await git(root, 'update-ref', `refs/heads/${branch}`, head, base);
      commits.push(head);
    });
  }

  async function putBack(head: string): Promise<void> {
    await patiently(async () => {
      if (isDetached) await git(desk, 'checkout', '-q', '--detach', branch);
      const base = await git(desk, 'rev-parse', 'HEAD');
      await git(desk, 'merge', '-q', '--no-edit', head);
      if (isDetached)
        await git(root, 'update-ref', `refs/heads/${branch}`, await git(desk, 'rev-parse', 'HEAD'), base);
    });
  }

  async function create(name: string): Promise<void> {
    if ((await git(root, 'ls-tree', '--name-only', branch, name)) !== '') return;
    await commit(`now ${name}`, [name], () => writeFileSync(join(desk, name), ''));
  }

  /** A task that has not begun to be merged will want to write this file. */
  async function makeDirty(): Promise<void> {
    const merged = (await git(root, 'ls-tree', '--name-only', branch, 'entries/')).split('\n');
    const task = plan.tasks.findLast(({ id }) => !merged.includes(`entries/${id}.txt`));
    const name = number % 2 === 0 ? `entries/${task?.id ?? 'last'}.txt` : 'shared.txt';
    number += 1;
    const path = join(desk, name);
    if (existsSync(path) !== (name === 'shared.txt')) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${existsSync(path) ? readFileSync(path, 'utf8') : ''}of the person ${number}\n`);
    dirty.add(name);
    const aside = join(desk, `aside-${number}.txt`);
    writeFileSync(aside, "in nobody's way\n");
    files.set(aside, "in nobody's way\n");
  }

  async function rewind(): Promise<void> {
    if (before !== undefined || dirty.size > 0) return;
    if (isDetached) {
      const head = await git(root, 'rev-parse', branch);
      await git(root, 'update-ref', `refs/heads/${branch}`, `${head}~1`, head).catch(() => {});
      if ((await git(root, 'rev-parse', branch)) !== head) before = head;
      return;
    }
    // Uncommitted changes may be in the way.
    await git(desk, 'reset', '-q', '--keep', 'HEAD~1').then(
      async () => {
        before = await git(desk, 'rev-parse', 'ORIG_HEAD');
      },
      () => {},
    );
  }
}
