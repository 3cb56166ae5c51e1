import { readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, hashOf, put, repository } from '../../test/kit/trees.ts';
import { openFileHasher } from './file-tree-hash.ts';
import { createTreeWatch, treeOf } from './tree-hash.ts';

describe('a tree without git', () => {
  const plain = (): string => {
    const root = folder();
    put(root, 'a.txt', 'a');
    put(root, 'src/b.txt', 'b');
    return root;
  };

  test('[P3/16] content decides, not mtime; default ignores, runs and exclusions do not count', async () => {
    const root = plain();
    const options = { exclude: ['TODO.md'] };
    const before = await hashOf(root, options);
    expect(before).toMatch(/^files:[0-9a-f]{64}$/);
    utimesSync(join(root, 'a.txt'), 1, 1);
    for (const path of [
      'node_modules/x/y.js',
      '.stepfast/runs/r',
      '.stepfast/sessions/s',
      'TODO.md',
      'src/__pycache__/b.pyc',
    ])
      put(root, path);
    expect(await hashOf(root, options)).toBe(before);
    const src = await hashOf(root, { paths: ['src'] });
    put(root, 'a.txt', 'b');
    expect(await hashOf(root, options)).not.toBe(before);
    expect(await hashOf(root, { paths: ['src'] })).toBe(src);
  });

  test('[P3/16] hashes are cached by size and mtime, except those of recently written files', async () => {
    const root = plain();
    const cacheDirectory = join(folder(), 'cache');
    const read = () => treeOf({ worktree: root, cacheDirectory });
    const old = new Date('2026-01-01T00:00:00Z');
    utimesSync(join(root, 'a.txt'), old, old);
    const now = new Date();
    utimesSync(join(root, 'src/b.txt'), now, now);
    const first = await read();
    put(root, 'a.txt', 'x');
    utimesSync(join(root, 'a.txt'), old, old);
    expect(await read()).toEqual(first);
    put(root, 'src/b.txt', 'y');
    utimesSync(join(root, 'src/b.txt'), now, now);
    const second = await read();
    expect(second).not.toEqual(first);
    writeFileSync(join(cacheDirectory, readdirSync(cacheDirectory)[0] ?? ''), 'rubbish');
    expect((await read()).hash).toMatch(/^files:/);
  });

  test('[P3/16] above the limit of files or time the tree is unknown', async () => {
    const root = plain();
    const trees = await openFileHasher({ worktree: root, exclude: [], boundMs: 60_000, maxFiles: 2 });
    await expect(trees.read([undefined])).resolves.toHaveLength(1);
    put(root, 'third');
    await expect(trees.read([undefined])).rejects.toMatchObject({ code: 'tree_unknown' });
    expect((await treeOf({ worktree: root, boundMs: -1 })).unknown).toContain('took longer');
  });

  test('[P3/16] a missing git program, and a folder that the repository around it ignores, are read as files', async () => {
    const root = repository({ '.gitignore': 'scratch\n' });
    put(root, 'scratch/x');
    const ignored = await hashOf(join(root, 'scratch'));
    expect(ignored).toMatch(/^files:/);
    put(root, 'scratch/x', 'changed');
    expect(await hashOf(join(root, 'scratch'))).not.toBe(ignored);
    const { PATH } = process.env;
    process.env.PATH = folder();
    try {
      expect(await hashOf(root)).toMatch(/^files:/);
    } finally {
      process.env.PATH = PATH;
    }
  });

  test('[P3/16] a watch names changed files too', async () => {
    const root = plain();
    const watch = createTreeWatch({ worktree: root });
    const [before] = await watch.read([undefined]);
    renameSync(join(root, 'a.txt'), join(root, 'c.txt'));
    const [after] = await watch.read([undefined]);
    expect(await watch.changed(before?.hash ?? '', after?.hash ?? '')).toEqual(['a.txt', 'c.txt']);
    await watch.close();
  });
});
