import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTwoClones, workflow } from '../../../test/kit/two-clones.ts';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

test('push shows what leaves this machine and asks; without a person it needs --yes', async () => {
  using clones = await createTwoClones();
  const { a, run, env, git } = clones;
  const refs = (): string => git(a, 'ls-remote', 'origin', 'refs/stepfast/*');
  await a.run(['advance', 'The first words of it'], { env });
  git(a, 'remote', 'set-url', '--push', 'origin', `file://${git(a, 'remote', 'get-url', 'origin')}`);
  const silent = await a.run(['push', '--json'], { env });
  expect(JSON.parse(silent.stdout)).toMatchObject({ code: 'not_confirmed' });
  const no = await a.run(['push'], { env, terminal: true, input: ['n'] });
  expect(no.code).toBe(exit.no);
  expect(refs()).toBe('');
  const yes = await a.run(['push'], { env, terminal: true, columns: 200, input: ['y'] });
  expect(yes.code, yes.stderr).toBe(exit.ok);
  expect(yes.stderr).toContain(`${run} to origin, file:///`);
  expect(yes.stderr).toMatch(/pushes +2 batches, 0 long texts, \d+ (bytes|KB)\n/);
  expect(yes.stderr).toMatch(/ at +b, just now by agent on /);
  expect(yes.stderr).toMatch(/output +The first words of it\n/);
  expect(yes.stdout).toContain('2 batches pushed to origin');
  expect(refs()).toContain(`refs/stepfast/runs/${run}`);
  expect((await a.run(['push'], { env })).stdout).toContain('origin is up to date');
  await a.run(['note', 'decision', 'One more', '--run', run], { env });
  expect((await a.run(['push', '--yes'], { env })).stderr).toMatch(/pushes +1 of 3 batches, /);
});

test('push without git, without a remote or to an unknown remote suggests a fix', async () => {
  using bare = createTestFolder({ '.stepfast/workflows/w.yaml': workflow });
  const env = { PATH: process.env.PATH };
  await bare.run(['start', 'w'], { env });
  const { code, stderr } = await bare.run(['push', '--yes'], { env });
  expect(code).toBe(exit.no);
  expect(stderr).toContain('stepfast export');
  using clones = await createTwoClones();
  const { a, git } = clones;
  const unknown = await a.run(['push', '--yes', '--remote', 'backup'], { env });
  expect(unknown.code).toBe(exit.notFound);
  expect(unknown.stderr).toContain('of origin');
  git(a, 'remote', 'remove', 'origin');
  const none = await a.run(['push', '--yes'], { env });
  expect(none.code).toBe(exit.no);
  expect(none.stderr).toContain('git remote add origin');
});

test('push --all pushes every run, and a damaged run does not block the others', async () => {
  using clones = await createTwoClones();
  const { a, run, env } = clones;
  const other = JSON.parse(
    (await a.run(['start', 'w', '--summary', 'Another', '--json'], { env })).stdout,
  ).run;
  writeFileSync(join(a.root, '.stepfast/runs', other, 'journal.jsonl'), 'nonsense\n');
  const { code, stdout } = await a.run(['push', '--all', '--yes', '--json'], { env });
  expect(code).toBe(exit.no);
  const { runs } = JSON.parse(stdout);
  expect(runs).toContainEqual(expect.objectContaining({ run, did: 'sent' }));
  expect(runs).toContainEqual(expect.objectContaining({ run: other, code: 'store_corrupt' }));
  expect((await a.run(['push', run, '--all'], { env })).code).toBe(exit.usage);
});

test('[P6/10] push refuses a run that is behind or diverged, and says how to choose', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  await clones.diverge();
  const apart = await a.run(['push', '--yes'], { env });
  expect(apart.code).toBe(exit.no);
  expect(apart.stderr).toContain('diverged since batch 1');
  expect(apart.stderr.replaceAll(/\s+/g, ' ')).toContain(`stepfast pull ${run.slice(-8)} --keep theirs`);
  await a.run(['pull', run, '--keep', 'theirs'], { env, terminal: true, input: ['y'] });
  await a.run(['note', 'decision', 'More', '--run', run], { env });
  await a.run(['push', run, '--yes'], { env });
  const behind = JSON.parse((await b.run(['push', run, '--yes', '--json'], { env })).stdout);
  expect(behind).toMatchObject({ code: 'behind', next: `stepfast pull ${run.slice(-8)}` });
});

test('push refuses secrets by rule and location, unless --with-secrets is given', async () => {
  using clones = await createTwoClones();
  const { a, run, env, git } = clones;
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  await a.run(['note', 'decision', `Use ${token} here`, '--run', run], { env });
  const refused = await a.run(['push', '--yes'], { env });
  expect(refused.code).toBe(exit.no);
  expect(refused.stderr.replaceAll(/\s+/g, ' ')).toMatch(/1 secret: \S+ in batch 2 \(.*note\.added\)/);
  expect(refused.stderr + refused.stdout).not.toContain(token);
  expect(git(a, 'ls-remote', 'origin')).toBe('');
  const { code } = await a.run(['push', '--yes', '--with-secrets'], { env });
  expect(code).toBe(exit.ok);
});

test('A18: push names uncommitted files, those that the run needs first', async () => {
  using clones = await createTwoClones();
  const { a, env, git } = clones;
  a.write({
    '.gitignore': 'ignored.md\n',
    '.stepfast/workflows/n.yaml':
      'name: n\ndescription: x\nrequired_reading: ["@docs/read.md", "@docs/kept.md"]\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ exists: "{input.plan}" }, { exists: ignored.md }] }\ninputs: { plan: { default: PLAN.md } }\n',
    'docs/read.md': 'read',
    'docs/kept.md': 'kept',
    'PLAN.md': 'plan',
    'ignored.md': 'ignored',
    'made.txt': 'made',
    'else.txt': 'else',
  });
  git(a, 'add', '-A');
  git(a, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'x');
  a.write({ 'docs/read.md': 'changed', 'PLAN.md': 'changed', 'made.txt': 'changed', 'else.txt': 'changed' });
  const { run } = JSON.parse((await a.run(['start', 'n', '--json'], { env })).stdout);
  await a.run(['note', 'artefact', 'made.txt', '--key', 'made', '--run', run], { env });
  const { stdout } = await a.run(['push', run, '--yes', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    did: 'sent',
    uncommitted: {
      needed: ['PLAN.md', 'docs/read.md', 'ignored.md', 'made.txt'],
      others: ['else.txt'],
      total: 1,
    },
  });
  await a.run(['note', 'decision', 'x', '--run', run], { env });
  const { stderr } = await a.run(['push', run, '--yes'], { env, columns: 300 });
  expect(stderr).toContain('PLAN.md, docs/read.md, ignored.md, made.txt');
  expect(stderr).toContain('else.txt');
  git(a, 'add', '-Af');
  git(a, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'y');
  const again = await a.run(['push', run, '--yes', '--json'], { env });
  expect(JSON.parse(again.stdout).uncommitted).toEqual({ needed: [], others: [], total: 0 });
});
