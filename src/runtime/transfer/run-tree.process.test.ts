import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeText } from '../../store/index.ts';
import { createGit, type Git } from './git.ts';
import { limits, readCommit, writeCommit } from './run-tree.ts';

let directory: string;
let git: Git;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-tree-'));
  plumb('init', '-q');
  git = createGit(directory, process.env);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const plumb = (...args: string[]): string =>
  execFileSync('git', args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' }).trim();

const write = (type: string, content: string | Uint8Array): string =>
  execFileSync('git', ['hash-object', '-w', '-t', type, '--literally', '--stdin'], {
    cwd: directory,
    input: content,
    encoding: 'utf8',
  }).trim();

type Entry = [mode: string, name: string, id: string];

/** Any tree, even one that git would not create. */
function tree(...entries: Entry[]): string {
  const parts = entries.flatMap(([mode, name, id]) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ]);
  return write('tree', Buffer.concat(parts));
}

function commit(...entries: Entry[]): string {
  const by = 'A <a@b> 1700000000 +0000';
  return write('commit', `tree ${tree(...entries)}\nauthor ${by}\ncommitter ${by}\n\nx\n`);
}

const blob = (text: string | Uint8Array = 'x'): string => write('blob', text);
const parts = (): Entry[] => [
  ['100644', 'journal.jsonl', blob()],
  ['100644', 'workflow.json', blob()],
];

test('what is written is what is read, the same commit every time, whatever git does to line ends', async () => {
  plumb('config', 'core.autocrlf', 'true');
  const { bytes, kept } = describeText('Many\r\nwords\n');
  const content = {
    journal: Buffer.from('one\r\ntwo\n'),
    workflow: Buffer.from('{}\n'),
    texts: new Map([[kept.digest, bytes]]),
  };
  const about = { message: 'Run', parent: undefined, now: 1000 };
  const id = await writeCommit(git, content, about);
  expect(await writeCommit(git, content, about)).toBe(id);
  const read = await readCommit(git, id);
  expect(Buffer.from(read.journal)).toEqual(content.journal);
  expect(Buffer.from(read.workflow)).toEqual(content.workflow);
  expect([...read.texts]).toEqual([...content.texts]);
  const next = await writeCommit(git, { ...content, texts: new Map() }, { ...about, parent: id });
  expect(plumb('log', '--format=%an %ae %s', next)).toBe(
    'Stepfast stepfast@localhost Run\nStepfast stepfast@localhost Run',
  );
  expect((await readCommit(git, next)).texts.size).toBe(0);
});

const hex = 'a'.repeat(64);

test.each<[string, () => string, string]>([
  ['is a blob', () => blob(), 'no commit'],
  ['is a tree', () => tree(...parts()), 'no commit'],
  ['is nowhere', () => 'f'.repeat(40), 'no commit'],
  ['is empty', () => commit(), 'no journal.jsonl'],
  ['has no workflow', () => commit(['100644', 'journal.jsonl', blob()]), 'no workflow.json'],
  [
    'has another file',
    () => commit(...parts(), ['100644', 'package.json', blob()]),
    '"package.json", which no run',
  ],
  ['has a folder of its own', () => commit(...parts(), ['40000', 'z', tree(...parts())]), 'which no run has'],
  ['climbs out', () => commit(['100644', '..', blob()], ...parts()), 'which no run has'],
  ['has a path for a name', () => commit(['100644', '../../x', blob()], ...parts()), 'which no run has'],
  ['has a git folder', () => commit(['40000', '.git', tree()], ...parts()), 'which no run has'],
  [
    'has a link for a journal',
    () => commit(['120000', 'journal.jsonl', blob('/etc/passwd')], ['100644', 'workflow.json', blob()]),
    'no plain file',
  ],
  [
    'has a link for its texts',
    () => commit(...parts(), ['120000', 'outputs', blob('/etc')]),
    'which no run has',
  ],
  [
    'has a submodule for its texts',
    () => commit(...parts(), ['160000', 'outputs', commit()]),
    'which no run has',
  ],
  [
    'has a program for a journal',
    () => commit(['100755', 'journal.jsonl', blob()], ['100644', 'workflow.json', blob()]),
    'no plain file',
  ],
  [
    'has a link among its texts',
    () => commit(...parts(), ['40000', 'outputs', tree(['120000', `${hex}.txt`, blob('/etc/passwd')])]),
    'no plain file',
  ],
  [
    'has a text without a digest',
    () => commit(...parts(), ['40000', 'outputs', tree(['100644', '../../x.txt', blob()])]),
    'which no run has',
  ],
  [
    'has a text in a folder of its own',
    () =>
      commit(...parts(), [
        '40000',
        'outputs',
        tree(['40000', 'deep', tree(['100644', `${hex}.txt`, blob()])]),
      ]),
    'which no run has',
  ],
  [
    'has a text that is too long',
    () =>
      commit(...parts(), [
        '40000',
        'outputs',
        tree(['100644', `${hex}.txt`, blob(Buffer.alloc(limits.text + 1))]),
      ]),
    'are taken at most',
  ],
  [
    'has a workflow that is too long',
    () =>
      commit(
        ['100644', 'journal.jsonl', blob()],
        ['100644', 'workflow.json', blob(Buffer.alloc(limits.workflow + 1))],
      ),
    'are taken at most',
  ],
  ['has a journal twice', () => commit(...parts(), ...parts()), 'twice'],
])('a commit that %s is refused', async (_, forge, words) => {
  await expect(readCommit(git, forge())).rejects.toMatchObject({
    code: 'bad_history',
    message: expect.stringContaining(words),
  });
});
