import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRunning } from '../../test/kit/is-running.ts';
import { folder, git, hashOf, put, repository } from '../../test/kit/trees.ts';
import { createTreeWatch, treeOf } from './tree-hash.ts';

/** Every file below, with size and mtime: git updates the mtime of objects that it would write again. */
function listing(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const { size, mtimeMs } = lstatSync(path);
    return `${path} ${size} ${path.includes('.git/objects/') ? '' : mtimeMs}`;
  });
}

describe('a tree in git', () => {
  test('[P3/8] the hash is the tree of a commit with all files', async () => {
    const root = repository();
    put(root, 'new.txt');
    appendFileSync(join(root, 'a.txt'), 'more');
    const before = await hashOf(root);
    git(root, 'add', '-A');
    expect(await hashOf(root)).toBe(before);
    git(root, 'commit', '-qm', 'second');
    expect(await hashOf(root)).toBe(before);
    expect(before).toBe(`git:${git(root, 'rev-parse', 'HEAD^{tree}')}`);
  });

  test('[P3/8] an edit, a new file, a removal, a mode and a link target each change it, and undoing brings it back', async () => {
    const root = repository({ 'a.txt': 'a', 'run.sh': 'x' });
    symlinkSync('a.txt', join(root, 'link'));
    const first = await hashOf(root);
    const edits: [() => void, () => void][] = [
      [() => put(root, 'a.txt', 'b'), () => put(root, 'a.txt', 'a')],
      [() => put(root, 'c.txt'), () => rmSync(join(root, 'c.txt'))],
      [() => rmSync(join(root, 'a.txt')), () => put(root, 'a.txt', 'a')],
      [() => chmodSync(join(root, 'run.sh'), 0o755), () => chmodSync(join(root, 'run.sh'), 0o644)],
      [
        () => {
          rmSync(join(root, 'link'));
          symlinkSync('b.txt', join(root, 'link'));
        },
        () => {
          rmSync(join(root, 'link'));
          symlinkSync('a.txt', join(root, 'link'));
        },
      ],
    ];
    for (const [edit, undo] of edits) {
      edit();
      expect(await hashOf(root)).not.toBe(first);
      undo();
    }
    expect(await hashOf(root)).toBe(first);
  });

  test('[P3/8] nothing is written to the repository, no hook runs, and no temporary file is left', async () => {
    const root = repository();
    const ran = join(folder(), 'hook-ran');
    const hook = join(root, '.git/hooks/post-index-change');
    put(root, '.git/hooks/post-index-change', `#!/bin/sh\ntouch '${ran}'\n`);
    chmodSync(hook, 0o755);
    put(root, 'new.txt');
    appendFileSync(join(root, 'a.txt'), 'more');
    const before = listing(root);
    const { TMPDIR } = process.env;
    const temporary = folder();
    process.env.TMPDIR = temporary;
    try {
      expect(await hashOf(root)).toMatch(/^git:[0-9a-f]{40}$/);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
    expect(listing(root)).toEqual(before);
    expect(existsSync(ran)).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('[P3/8] stash and pop leave it as it was', async () => {
    const root = repository();
    appendFileSync(join(root, 'a.txt'), 'more');
    const before = await hashOf(root);
    git(root, 'stash');
    expect(await hashOf(root)).not.toBe(before);
    git(root, 'stash', 'pop');
    expect(await hashOf(root)).toBe(before);
  });

  test("[P3/8] a locked index and the caller's git variables do not matter", async () => {
    const root = repository();
    const other = repository({ 'other.txt': 'x' });
    const before = await hashOf(root);
    put(root, '.git/index.lock', '');
    const variables = {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: '/nowhere',
      GIT_LITERAL_PATHSPECS: '1',
    };
    Object.assign(process.env, variables);
    try {
      expect(await hashOf(root)).toBe(before);
      expect(existsSync(join(root, '.git/index.lock'))).toBe(true);
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });

  test('[P3/8] a file that changes in the same tick as the index is seen', async () => {
    const root = repository({ 'a.txt': 'old' });
    git(root, 'config', 'core.trustctime', 'false');
    const moment = new Date('2026-01-01T00:00:00Z');
    utimesSync(join(root, 'a.txt'), moment, moment);
    git(root, 'update-index', '--refresh');
    utimesSync(join(root, '.git/index'), moment, moment);
    const before = await hashOf(root);
    put(root, 'a.txt', 'new');
    utimesSync(join(root, 'a.txt'), moment, moment);
    expect(await hashOf(root)).not.toBe(before);
  });

  test('[P3/8] edits are seen in assume-unchanged and skip-worktree files', async () => {
    const root = repository({ 'a.txt': 'a', 'b.txt': 'b' });
    git(root, 'update-index', '--assume-unchanged', 'a.txt');
    git(root, 'update-index', '--skip-worktree', 'b.txt');
    const before = await hashOf(root);
    put(root, 'a.txt', 'x');
    const edited = await hashOf(root);
    put(root, 'b.txt', 'x');
    expect(new Set([before, edited, await hashOf(root)]).size).toBe(3);
  });

  test('[P3/8] the worktree may have any names, no commit, a linked worktree, a split index or a sparse checkout', async () => {
    const names = [
      'with space',
      'line\nbreak',
      'ünï→',
      '-dash',
      ':colon',
      'a[1].txt',
      '"quoted"',
      'back\\slash',
    ];
    const fresh = folder();
    git(fresh, 'init', '-q');
    const empty = await hashOf(fresh);
    expect(empty).toBe('git:4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    for (const name of names) put(fresh, `${name}/${name}`);
    const filled = await hashOf(fresh);
    git(fresh, 'add', '-A');
    git(fresh, 'commit', '-qm', 'names');
    expect(filled).toBe(`git:${git(fresh, 'rev-parse', 'HEAD^{tree}')}`);

    const linked = join(folder(), 'linked: tree');
    git(fresh, 'worktree', 'add', '-q', '--detach', linked);
    expect(await hashOf(linked)).toBe(filled);
    put(linked, 'only here');
    expect(await hashOf(linked)).not.toBe(filled);
    expect(await hashOf(fresh)).toBe(filled);

    git(fresh, 'update-index', '--split-index');
    expect(await hashOf(fresh)).toBe(filled);
    git(fresh, 'update-index', '--no-split-index', '--index-version', '4');
    expect(await hashOf(fresh)).toBe(filled);

    const sparse = repository({ 'in/a': 'a', 'out/b': 'b', top: 't' });
    const whole = await hashOf(sparse);
    git(sparse, 'sparse-checkout', 'set', 'in');
    expect(existsSync(join(sparse, 'out'))).toBe(false);
    expect(await hashOf(sparse)).toBe(whole);
    put(sparse, 'out/new');
    const more = await hashOf(sparse);
    expect(more).toMatch(/^git:/);
    expect(more).not.toBe(whole);
  });

  test('[P3/9] ignored files, .stepfast/runs and what is excluded do not count, tracked or not', async () => {
    const root = repository({
      '.gitignore': 'ignored/\n',
      'TODO.md': 'one',
      '.stepfast/runs/old': 'x',
      a: 'a',
    });
    const options = { exclude: ['TODO.md', 'out/**/*.log'] };
    const before = await hashOf(root, options);
    const paths = [
      'ignored/x',
      '.stepfast/runs/r/journal',
      '.stepfast/sessions/s.json',
      'TODO.md',
      'out/deep/x.log',
      '.stepfast/runs/old',
    ];
    for (const path of paths) put(root, path, 'changed');
    expect(await hashOf(root, options)).toBe(before);
    git(root, 'add', '-A');
    expect(await hashOf(root, options)).toBe(before);
    put(root, '.stepfast/workflows/w.yaml');
    expect(await hashOf(root, options)).not.toBe(before);
  });

  test('[P3/9] with paths the hash covers those alone, also where one is missing, ignored, or the worktree is a subfolder', async () => {
    const root = repository({
      'src/a': 'a',
      'test/b': 'b',
      '.gitignore': 'dist\n',
      'pkg/src/c': 'c',
      'app/[id]/d': 'd',
    });
    put(root, 'dist/x');
    const paths = ['src', 'nowhere', 'dist', 'app/[id]/d'];
    const before = await hashOf(root, { paths });
    put(root, 'test/b', 'changed');
    put(root, 'pkg/src/c', 'changed');
    expect(await hashOf(root, { paths })).toBe(before);
    put(root, 'src/new');
    const added = await hashOf(root, { paths });
    expect(added).not.toBe(before);
    put(root, 'app/[id]/d', 'changed');
    expect(await hashOf(root, { paths })).not.toBe(added);

    const inPackage = await hashOf(join(root, 'pkg'), { paths: ['src'] });
    put(root, 'src/new', 'changed');
    expect(await hashOf(join(root, 'pkg'), { paths: ['src'] })).toBe(inPackage);
    put(root, 'pkg/src/c', 'again');
    expect(await hashOf(join(root, 'pkg'), { paths: ['src'] })).not.toBe(inPackage);
    expect(await hashOf(root, { paths: ['../elsewhere'] })).toContain('unknown: ../elsewhere is outside');
  });

  test('[P3/9] a submodule counts by its commit and by whether it has changes', async () => {
    const inner = repository({ 'inner.txt': 'x' });
    const root = repository();
    git(root, 'submodule', 'add', '-q', inner, 'vendor/inner');
    const clean = await hashOf(root);
    const sub = join(root, 'vendor/inner');
    put(sub, 'inner.txt', 'changed');
    const watch = createTreeWatch({ worktree: root });
    const [dirty] = await watch.read([undefined]);
    expect(dirty?.hash).not.toBe(clean);
    expect(await hashOf(root, { paths: ['src'] })).toBe(await hashOf(root, { paths: ['src'] }));
    git(sub, 'checkout', '-q', '.');
    const [again] = await watch.read([undefined]);
    expect(again?.hash).toBe(clean);
    expect(await watch.changed(dirty?.hash ?? '', clean)).toEqual(['vendor/inner']);
    await watch.close();
    put(sub, 'inner.txt', 'changed');
    git(sub, 'commit', '-qam', 'next');
    expect(await hashOf(root)).not.toBe(clean);
  });

  test('[P3/9] a nested repository without a commit does not break the hash', async () => {
    const root = repository();
    git(root, 'init', '-q', 'inner');
    put(root, 'inner/x');
    const before = await hashOf(root);
    expect(before).toMatch(/^git:/);
    put(root, 'a.txt', 'changed');
    expect(await hashOf(root)).not.toBe(before);
  });

  test('[P3/10] after the time limit the tree is unknown, and git and its children are gone', async () => {
    const root = repository({ '.gitattributes': '*.slow filter=slow\n' });
    const pid = join(folder(), 'filter-pid');
    git(root, 'config', 'filter.slow.clean', `sh -c 'echo $$ > "${pid}"; sleep 600; cat'`);
    put(root, 'x.slow');
    // Git may reach the filter late on a busy machine.
    for (let boundMs = 700; !existsSync(pid) && boundMs < 60_000; boundMs *= 3)
      expect(await treeOf({ worktree: root, boundMs })).toEqual({
        unknown: `reading the worktree took longer than ${boundMs / 1000} s`,
      });
    const id = Number(readFileSync(pid, 'utf8'));
    await expect.poll(() => isRunning(id)).toBe(false);
  });

  test('[P3/10] a repository that git cannot read is unknown, with the reason', async () => {
    const root = repository();
    writeFileSync(join(root, '.git/index'), 'rubbish');
    expect((await treeOf({ worktree: root })).unknown).toMatch(/^git: .*index/);
    expect((await treeOf({ worktree: join(root, 'nowhere') })).unknown).toContain('cannot be read');
  });

  test('[P3/14] a watch names the files that changed between two readings', async () => {
    const root = repository({ a: 'a', b: 'b', 'dir/c': 'c' });
    put(root, 'untracked', '1');
    const watch = createTreeWatch({ worktree: root });
    const [before, part] = await watch.read([undefined, ['dir']]);
    put(root, 'a', 'changed');
    rmSync(join(root, 'b'));
    put(root, 'untracked', '2');
    put(root, 'new\nfile');
    const [after, samePart] = await watch.read([undefined, ['dir']]);
    expect(samePart).toEqual(part);
    expect(await watch.changed(before?.hash ?? '', after?.hash ?? '')).toEqual([
      'a',
      'b',
      'new\nfile',
      'untracked',
    ]);
    git(root, 'add', '-A');
    expect(await watch.read([undefined])).toEqual([after]);
    expect((await treeOf({ worktree: root })).hash).toBe(after?.hash);
    await watch.close();
  });
});

test('[P3/8] a watch agrees with a new reading after an ignored file was added to the index', async () => {
  const root = repository({ '.gitignore': 'ignored\n', a: 'a' });
  put(root, 'ignored');
  const watch = createTreeWatch({ worktree: root });
  const [before] = await watch.read([undefined]);
  git(root, 'add', '-f', 'ignored');
  const [after] = await watch.read([undefined]);
  expect(after?.hash).toBe(await hashOf(root));
  expect(await watch.changed(before?.hash ?? '', after?.hash ?? '')).toEqual(['ignored']);
  await watch.close();
});
