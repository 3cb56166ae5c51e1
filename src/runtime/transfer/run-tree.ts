import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import type { GitResult } from '../../evidence/index.ts';
import type { TextsByDigest } from '../../store/index.ts';
import type { Git } from './git.ts';

/** A run as stored in git. */
export interface RunTree {
  journal: Uint8Array;
  /** The pinned definition, for people who inspect the commit; never read back. */
  workflow: Uint8Array;
  texts: TextsByDigest;
}

/** Far above any real run; an untrusted repository must not fill this machine. */
export const limits = {
  journal: 64 * 1024 * 1024,
  workflow: 8 * 1024 * 1024,
  text: 1024 * 1024,
  all: 256 * 1024 * 1024,
  entries: 20_000,
} as const;

const entryPattern = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)$/s;
const textPattern = /^outputs\/([0-9a-f]{64})\.txt$/;

/** Writes the run as an unreferenced commit; the same run with the same parent gives the same commit. */
export async function writeCommit(
  git: Git,
  { journal, workflow, texts }: RunTree,
  commit: { message: string; parent: string | undefined; now: number },
): Promise<string> {
  const named = [...texts].map(
    ([digest, bytes]) => [`${digest.slice('sha256:'.length)}.txt`, bytes] as const,
  );
  const ids = await writeBlobs(git, [journal, workflow, ...named.map(([, bytes]) => bytes)]);
  const blob = (id: string, name: string): string => `100644 blob ${id}\t${name}\n`;
  const mktree = (of: readonly string[]): Promise<string> => mustWrite(git, ['mktree'], of.join(''));
  const kept = named.map(([name], index) => blob(ids[index + 2] ?? '', name));
  const tree = await mktree([
    blob(ids[0] ?? '', 'journal.jsonl'),
    blob(ids[1] ?? '', 'workflow.json'),
    ...(named.length > 0 ? [`040000 tree ${await mktree(kept)}\toutputs\n`] : []),
  ]);
  const parents = commit.parent === undefined ? [] : ['-p', commit.parent];
  const date = `@${Math.max(0, Math.floor(commit.now / 1000))} +0000`;
  // No person's name or address: the journal records who did what.
  const by = { NAME: 'Stepfast', EMAIL: 'stepfast@localhost', DATE: date };
  const env = Object.fromEntries(
    Object.entries(by).flatMap(([part, value]) => [
      [`GIT_AUTHOR_${part}`, value],
      [`GIT_COMMITTER_${part}`, value],
    ]),
  );
  return await mustWrite(git, ['commit-tree', tree, ...parents], commit.message, env);
}

/** Without filters: line endings and attributes of the project must not apply. */
async function writeBlobs(git: Git, blobs: readonly Uint8Array[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'stepfast-push-'));
  try {
    const paths = blobs.map((_, index) => join(directory, String(index)));
    for (const [index, bytes] of blobs.entries()) await writeFile(paths[index] ?? '', bytes);
    const ids = await mustWrite(
      git,
      ['hash-object', '-w', '--no-filters', '--stdin-paths'],
      `${paths.join('\n')}\n`,
    );
    return ids.split('\n');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function mustWrite(
  git: Git,
  args: readonly string[],
  input: string,
  env: Record<string, string> = {},
): Promise<string> {
  const done = await git(args, { input, env });
  if (done.code === 0) return done.stdout.toString('utf8').trim();
  const why = done.stderr.trim().split('\n').at(-1) ?? '';
  throw new StepfastError('git_failed', `git ${args[0]} did not write the run: ${why}`);
}

/** Reads an untrusted commit: only known names, plain files and sizes that a run can have. Throws `bad_history`. */
export async function readCommit(git: Git, commit: string): Promise<RunTree> {
  const kind = await git(['cat-file', '-t', commit]);
  if (kind.stdout.toString('latin1').trim() !== 'commit') throw bad('it is no commit');
  const listed = await git(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], {
    maxBytes: limits.entries * 256,
  });
  if (listed.failure === 'long') throw bad('it has more files than any run');
  if (listed.code !== 0) throw bad('its files cannot be listed');
  const entries = listed.stdout.toString('utf8').split('\0').filter(Boolean);
  if (entries.length > limits.entries) throw bad('it has more files than any run');
  const files = entries.flatMap(fileIn);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > limits.all) throw bad(`it has ${total} bytes, and ${limits.all} are taken at most`);
  const ids = files.map(({ id }) => `${id}\n`).join('');
  const read = await git(['cat-file', '--batch'], { input: ids, maxBytes: total + files.length * 256 });
  const contents = contentsIn(read, files);
  const content = (name: string): Uint8Array => {
    const found = contents.get(name);
    if (!found) throw bad(`it has no ${name}`);
    return found;
  };
  const texts = new Map<string, Uint8Array>();
  for (const [name, bytes] of contents) {
    const hex = textPattern.exec(name)?.[1];
    if (hex !== undefined) texts.set(`sha256:${hex}`, bytes);
  }
  return { journal: content('journal.jsonl'), workflow: content('workflow.json'), texts };
}

interface TreeFile {
  name: string;
  id: string;
  size: number;
}

function fileIn(entry: string): TreeFile[] {
  const [, mode, type, id = '', size, name = ''] = entryPattern.exec(entry) ?? [];
  if (name === 'outputs' && mode === '040000' && type === 'tree') return [];
  const shown = JSON.stringify(name.slice(0, 80));
  const most =
    name === 'journal.jsonl'
      ? limits.journal
      : name === 'workflow.json'
        ? limits.workflow
        : textPattern.test(name)
          ? limits.text
          : undefined;
  if (most === undefined) throw bad(`it has a file ${shown}, which no run has`);
  if (mode !== '100644' || type !== 'blob') throw bad(`${shown} is no plain file in it`);
  if (Number(size) > most) throw bad(`${shown} has ${size} bytes, and ${most} are taken at most`);
  return [{ name, id, size: Number(size) }];
}

function contentsIn({ code, stdout }: GitResult, files: readonly TreeFile[]): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  let from = 0;
  for (const { name, id, size } of files) {
    const head = `${id} blob ${size}\n`;
    const start = from + head.length;
    if (code !== 0 || stdout.toString('latin1', from, start) !== head) throw bad(`${name} cannot be read`);
    if (contents.has(name)) throw bad(`it has ${name} twice`);
    contents.set(name, stdout.subarray(start, start + size));
    from = start + size + 1;
  }
  return contents;
}

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);
