import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { begin, mustLoad, note } from '../../../test/kit/sample-run.ts';
import { isNetworkFileSystem, mountType } from './network-file-system.ts';
import { createNodeFiles } from './node-files.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (read: Uint8Array | undefined): string | undefined => read && Buffer.from(read).toString();

test('the real file system implements all calls', async () => {
  const root = temporaryDirectory();
  const files = createNodeFiles();
  const path = join(root, 'file');
  expect(await files.read(path)).toBeUndefined();
  expect(await files.size(path)).toBeUndefined();
  expect(await files.append(path, bytes('abc'))).toBe(3);
  await files.append(path, bytes('def'));
  expect(text(await files.read(path, 2))).toBe('cdef');
  expect(text(await files.read(path, 9))).toBe('');
  expect(await files.size(path)).toBe(6);
  await expect(files.create(path, bytes('x'))).rejects.toMatchObject({ code: 'EEXIST' });
  await files.sync(path);
  await files.syncDirectory(root);
  await files.makeDirectory(join(root, 'directory'));
  await expect(files.makeDirectory(join(root, 'directory'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(files.makeDirectory(join(root, 'a', 'b'))).rejects.toMatchObject({ code: 'ENOENT' });
  await files.rename(path, join(root, 'directory', 'moved'));
  expect(await files.names(root)).toEqual(['directory']);
  expect(await files.names(join(root, 'none'))).toEqual([]);
  await files.remove(join(root, 'directory'));
  await files.remove(join(root, 'directory'));
  expect(await files.names(root)).toEqual([]);
});

test('a run works on the real file system with every sync', async () => {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  const store = openStore(directory, { files: createNodeFiles() });
  await begin(store, 'real-1-abcd');
  const { digest } = await store.keep('real-1-abcd', 'text');
  expect(await note(store, 'real-1-abcd', 'one')).toMatchObject({ seq: 2 });
  const fresh = openStore(directory, { files: createNodeFiles() });
  expect((await mustLoad(fresh, 'real-1-abcd')).state.variables.said).toBe('one');
  expect(await fresh.text('real-1-abcd', digest)).toBe('text');
});

test('[P6/9] a rename that fails briefly is retried on Windows only', async () => {
  const root = temporaryDirectory();
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  const refusing = (times: number, code: string) => {
    let refused = 0;
    return (source: unknown, target: unknown): void => {
      refused += 1;
      if (refused <= times) throw Object.assign(new Error(code), { code });
      renameSync(String(source), String(target));
    };
  };
  for (const code of ['EPERM', 'EBUSY']) {
    writeFileSync(from, code);
    await createNodeFiles({ windows: true, rename: refusing(3, code) }).rename(from, to);
    expect(readFileSync(to, 'utf8')).toBe(code);
  }
  writeFileSync(from, 'x');
  const here = createNodeFiles({ windows: false, rename: refusing(1, 'EPERM') });
  await expect(here.rename(from, to)).rejects.toMatchObject({ code: 'EPERM' });
  const missing = createNodeFiles({ windows: true, rename: refusing(1, 'ENOENT') });
  await expect(missing.rename(from, to)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('[P6/10] network and local file systems are distinguished', () => {
  const root = temporaryDirectory();
  expect(isNetworkFileSystem(root)).toBe(false);
  expect(isNetworkFileSystem(root, { platform: 'linux', type: () => 0x6969 })).toBe(true);
  expect(isNetworkFileSystem(root, { platform: 'linux', type: () => 0xfe534d42 })).toBe(true);
  expect(isNetworkFileSystem(root, { platform: 'linux', type: () => 0xef53 })).toBe(false);
  expect(isNetworkFileSystem(root, { platform: 'darwin', type: () => 0x6969 })).toBe(false);
});

test('[P6/10] the deepest mount contains the path', () => {
  const mountinfo = [
    '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '40 22 0:50 / /home/ann/far\\040away rw - fuse.sshfs ann@host: rw',
    '41 22 0:51 / /home/ann rw - xfs /dev/sdb1 rw',
    '',
  ].join('\n');
  expect(mountType(mountinfo, '/home/ann/far away/project')).toBe('fuse.sshfs');
  expect(mountType(mountinfo, '/home/ann/far')).toBe('xfs');
  expect(mountType(mountinfo, '/home/annette')).toBe('ext4');
});

test('a directory instead of a file is an error, not a missing file', async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'run-1', 'journal.jsonl'), { recursive: true });
  await expect(openStore(root).load('run-1')).rejects.toMatchObject({ code: 'store_failed' });
});
