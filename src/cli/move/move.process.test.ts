import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';
import { findingsOf, formatFinding } from './repair-findings.ts';

const files = {
  '.stepfast/workflows/w.yaml':
    'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y }\n',
};
const env = { PATH: process.env.PATH };
const long = `${'A long text. '.repeat(200)}\n`;

async function started(): Promise<{ project: TestProject; run: string }> {
  const project = createTestFolder(files);
  const { stdout } = await project.run(['start', 'w', '--summary', 'Moved', '--json'], { env });
  await project.run(['advance', long], { env });
  return { project, run: JSON.parse(stdout).run };
}

test('an exported and imported run is unchanged', async () => {
  const { project, run } = await started();
  using here = project;
  using there = createTestFolder();
  expect((await here.run(['export', run, '--output', join(there.root, 'run.json')], { env })).code).toBe(
    exit.ok,
  );
  expect((await there.run(['import', 'run.json'], { env })).code).toBe(exit.ok);
  const [one, other] = await Promise.all([
    here.run(['log', '--json'], { env }),
    there.run(['log', '--json'], { env }),
  ]);
  expect(other.stdout).toBe(one.stdout);
  const again = await there.run(['export', run], { env });
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(readFileSync(join(there.root, 'run.json'), 'utf8')));
  expect(again.stdout).toContain('A long text.');
  expect((await there.run(['advance', 'went on'], { env })).stdout).toContain('complete');
});

test('export warns about secrets by rule and location, and still writes the run', async () => {
  const { project, run } = await started();
  using here = project;
  expect((await here.run(['export', run, '-o', 'run.json'], { env })).stderr).toBe('');
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  await here.run(['note', 'decision', `Use ${token} here`], { env });
  const printed = await here.run(['export', run], { env });
  const saved = await here.run(['export', run, '-o', 'run.json'], { env });
  for (const { code, stderr } of [printed, saved]) {
    expect(code).toBe(exit.ok);
    expect(stderr).toMatch(/^note {2}.* \S+ in batch 3 \(.*note\.added\)\. /);
    expect(stderr).not.toContain(token);
  }
  expect(printed.stdout).toContain(token);
});

test.each<[string, (text: string) => string, string]>([
  ['is not JSON', () => 'x', 'is not JSON'],
  ['is something else', () => '{}', 'is not an exported run'],
  ['has another version', (text) => text.replace('"version":1', '"version":9'), 'update Stepfast'],
  ['has another workflow', (text) => text.replace('"instructions":"y"', '"instructions":"z"'), 'was edited'],
  [
    'has another text',
    (text) => text.replace(/A long text\. A/g, 'A false text. A'),
    'was edited after the export',
  ],
  ['has other words', (text) => text.replace('"Moved"', '"Gone"'), 'was edited after the export'],
  ['has no digest', (text) => text.replace(/,"digest":"sha256:\w+"\}$/m, '}'), 'was edited after'],
  ['lacks a text', (text) => text.replace(/"texts":\{.*?\}/, '"texts":{}'), 'misses the text'],
  [
    'is another run',
    (text) => text.replace(/"run":"w-\d+-\w+"/, '"run":"w-20261115-other123"'),
    'was edited after the export',
  ],
  [
    'has an event of its own',
    (text) => text.replace('"position.completed"', '"position.invented"'),
    'unknown event',
  ],
])('a file that %s is refused, and nothing of it stays', async (_, edit, words) => {
  const { project, run } = await started();
  using here = project;
  using there = createTestFolder();
  await here.run(['export', run, '-o', 'run.json'], { env });
  const text = readFileSync(join(here.root, 'run.json'), 'utf8');
  const edited = edit(text);
  expect(edited).not.toBe(text);
  writeFileSync(join(there.root, 'run.json'), edited);
  const { code, stderr } = await there.run(['import', 'run.json'], { env });
  expect(code).toBe(exit.no);
  expect(stderr).toContain(words);
  expect(JSON.parse((await there.run(['runs', '--all', '--json'], { env })).stdout)).toEqual({ runs: [] });
});

test('an existing run is not imported', async () => {
  const { project, run } = await started();
  using here = project;
  await here.run(['export', run, '-o', 'run.json'], { env });
  const { code, stdout } = await here.run(['import', 'run.json', '--json'], { env });
  expect([code, JSON.parse(stdout).code]).toEqual([exit.no, 'run_exists']);
});

test('clean removes runs that ended long ago, and never a live run', async () => {
  const { project, run } = await started();
  using here = project;
  await here.run(['start', 'w', '--summary', 'Another'], { env });
  await here.run(['cancel', '--run', run, '--yes'], { env, terminal: true });
  const runs = (): string[] => readdirSync(join(here.root, '.stepfast/runs'));
  const live = runs().find((id) => id !== run) ?? '';
  expect(JSON.parse((await here.run(['clean', live, '--yes', '--json'], { env })).stdout).code).toBe(
    'run_live',
  );
  expect(JSON.parse((await here.run(['clean', '--yes', '--json'], { env })).stdout)).toEqual({ removed: [] });
  const later = { env, now: () => Date.now() + 40 * 24 * 3_600_000 };
  expect((await here.run(['clean', '--dry-run', '--json'], later)).stdout).toContain(run);
  expect((await here.run(['clean'], later)).code).toBe(exit.no);
  expect((await here.run(['clean'], { ...later, terminal: true, input: ['n'] })).code).toBe(exit.no);
  expect(runs()).toHaveLength(2);
  expect((await here.run(['clean', '--yes'], later)).code).toBe(exit.ok);
  expect(runs()).toHaveLength(1);
  expect(runs()).not.toContain(run);
});

test('clean removes the named run, even if it is unreadable', async () => {
  const { project, run } = await started();
  using here = project;
  writeFileSync(join(here.root, '.stepfast/runs', run, 'journal.jsonl'), 'nonsense\n');
  expect((await here.run(['runs'], { env })).stdout).toMatch(new RegExp(`${run} +broken`));
  expect((await here.run(['clean', run, '--yes'], { env })).code).toBe(exit.ok);
  expect(readdirSync(join(here.root, '.stepfast/runs'))).not.toContain(run);
  expect((await here.run(['clean', run, '--yes'], { env })).code).toBe(exit.notFound);
});

test('clean rejects an invalid duration', async () => {
  using here = createTestFolder(files);
  expect((await here.run(['clean', '--older-than', 'soon'], { env })).code).toBe(exit.usage);
});

test('anyone can check for damage, but only a person who confirms can repair', async () => {
  const { project, run } = await started();
  using here = project;
  const journal = join(here.root, '.stepfast/runs', run, 'journal.jsonl');
  expect((await here.run(['repair'], { env })).code).toBe(exit.ok);
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  await here.run(['note', 'decision', 'One more'], { env });
  const more = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  // The middle batch is lost, the next one is intact.
  writeFileSync(journal, [lines[0], more.at(-1)].map((line) => `\n${line}\n`).join(''));
  const agent = await here.run(['repair', run, '--json'], { env });
  expect(JSON.parse(agent.stdout)).toMatchObject({ code: 'person_only' });
  const person = await here.run(['repair', run], { env, terminal: true, input: ['y'] });
  expect(person.stderr).toContain('damaged or lost');
  expect(person.code).toBe(exit.ok);
  expect((await here.run(['status', run, '--json'], { env })).code).toBe(exit.ok);
});

test('two histories are shown with their own batches, and only a known one can be kept', async () => {
  const { project, run } = await started();
  using here = project;
  using there = createTestFolder(files);
  const journalOf = ({ root }: TestProject): string => join(root, '.stepfast/runs', run, 'journal.jsonl');
  cpSync(join(here.root, '.stepfast/runs'), join(there.root, '.stepfast/runs'), { recursive: true });
  await here.run(['note', 'decision', 'Said here'], { env });
  await there.run(['note', 'decision', 'Said there\u001b[2J'], { env });
  const other = readFileSync(journalOf(there), 'utf8').split('\n').filter(Boolean).at(-1);
  writeFileSync(journalOf(here), `${readFileSync(journalOf(here), 'utf8')}\n${other}\n`);
  const found = JSON.parse((await here.run(['repair', run, '--json'], { env })).stdout);
  expect(found).toMatchObject({ code: 'store_forked', found: [{ histories: [{}, {}] }] });
  const ids = found.found[0].histories.map(({ id }: { id: string }) => id);
  const person = { env, terminal: true, input: ['y'] };
  const { stderr } = await here.run(['repair', run], person);
  expect(stderr).toMatch(/decision {2}Said here/);
  expect(stderr).toMatch(/decision {2}Said there\ufffd\[2J/);
  for (const id of ids) expect(stderr).toContain(`--keep ${id}`);
  const wrong = await here.run(['repair', run, '--keep', 'nope'], person);
  expect(wrong.code).toBe(exit.no);
  expect(wrong.stderr).toContain("has no history 'nope'");
  expect(wrong.stderr).not.toContain('Type');
  const kept = await here.run(['repair', run, '--keep', ids[0]], person);
  expect(kept.stdout).toMatch(/ b\. 1 batch dropped: note\.added\./);
});

test('status and log report damage in lines they did not need', async () => {
  const { project, run } = await started();
  using here = project;
  const outputs = join(here.root, '.stepfast/runs', run, 'outputs');
  for (const name of readdirSync(outputs)) writeFileSync(join(outputs, name), 'edited');
  const { code, stdout, stderr } = await here.run(['status', run], { env });
  expect(code).toBe(exit.no);
  expect(stdout).toContain(run);
  expect(stderr).toMatch(/^no +line \d+ of its journal is damaged: /);
  expect(stderr).toContain(`stepfast repair ${run}`);
  expect((await here.run(['log'], { env })).stderr).toContain('is damaged');
});

test('a lost line is one finding, however many lines follow', () => {
  const lost = (line: number): Parameters<typeof findingsOf>[0][number] => ({
    kind: 'corrupt',
    line,
    message: 'continues a batch that is damaged or lost',
  });
  const findings = findingsOf([lost(32), lost(34), lost(86)]);
  expect(findings.map((finding) => formatFinding(finding, '–'))).toEqual([
    'lines 32–86: continues a batch that is damaged or lost',
  ]);
});

test('clean --worktrees removes those of ended runs that hold nothing, and lists the others', async () => {
  const { project, run } = await started();
  using here = project;
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: here.root });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', 'one');
  for (const task of ['empty', 'dirty'])
    git('worktree', 'add', '-q', '-b', `stepfast/${run}/${task}`, `.stepfast/worktrees/${run}/${task}`);
  const folder = join(realpathSync(here.root), '.stepfast/worktrees', run);
  writeFileSync(join(folder, 'dirty/file'), '');
  const clean = async (...args: string[]) => {
    const { code, stdout } = await here.run(['clean', '--worktrees', '--json', ...args], { env });
    return { status: code, ...JSON.parse(stdout) };
  };
  const [empty, dirty] = [
    { task: 'empty', path: join(folder, 'empty'), holds: 'nothing' },
    { task: 'dirty', path: join(folder, 'dirty'), holds: 'changes' },
  ];
  expect(await clean('--yes')).toMatchObject({ removed: [], kept: [dirty, { ...empty, live: true }] });
  await here.run(['cancel', '--run', run, '--yes'], { env, terminal: true });
  expect(await clean('--dry-run')).toMatchObject({ would_remove: [empty], kept: [dirty] });
  expect(await clean()).toMatchObject({ status: exit.no, code: 'not_confirmed' });
  const shown = await here.run(['clean', '--worktrees', '--dry-run'], { env });
  expect(shown.stdout).toContain(join(folder, 'dirty'));
  expect(await clean('--yes')).toMatchObject({ status: exit.ok, removed: [empty], kept: [dirty] });
  expect(readdirSync(folder)).toEqual(['dirty']);
  expect(await here.run(['clean', run, '--worktrees'], { env })).toMatchObject({ code: exit.usage });
});

test('clean lists the task worktrees and branches that it keeps', async () => {
  const { project, run } = await started();
  using here = project;
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: here.root });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', 'one');
  git('worktree', 'add', '-q', '-b', `stepfast/${run}/t1`, `.stepfast/worktrees/${run}/t1`);
  await here.run(['cancel', '--run', run, '--yes'], { env, terminal: true });
  const { stderr } = await here.run(['clean', run, '--yes'], { env });
  expect(stderr).toContain(`git worktree remove ${realpathSync(here.root)}/.stepfast/worktrees/${run}/t1\n`);
  expect(stderr).toContain(`git branch -d stepfast/${run}/t1\n`);
});
