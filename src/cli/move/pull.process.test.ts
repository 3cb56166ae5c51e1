import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTwoClones } from '../../../test/kit/two-clones.ts';
import { exit } from '../exit.ts';

test('pull fetches live and existing runs and shows their position and the next command', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  expect(await b.run(['pull'], { env })).toMatchObject({ code: 0, stdout: '' });
  await a.run(['push', '--yes'], { env });
  const first = await b.run(['pull'], { env });
  expect(first.code, first.stderr).toBe(exit.ok);
  expect(first.stdout).toContain(`${run}  running  1 batch from origin`);
  expect(first.stdout).toMatch(/ at a, just now by agent on /);
  expect(first.stdout).toContain(`stepfast resume ${run.slice(-8)}`);
  expect((await b.run(['pull'], { env })).stdout).toContain('up to date');
  await b.run(['advance', 'done', '--run', run], { env });
  expect((await b.run(['pull'], { env })).stdout).toContain('1 batch to push');
  await b.run(['push', run, '--yes'], { env });
  const again = JSON.parse((await a.run(['pull', run.slice(-8), '--json'], { env })).stdout);
  expect(again).toMatchObject({ run, did: 'continued', batches: 1, ahead: 0, there: { stands_at: 'b' } });
});

test('pull skips ended runs unless --all is given', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  await a.run(['cancel', '--run', run, '--yes'], { env, terminal: true });
  await a.run(['push', run, '--yes'], { env });
  expect((await b.run(['pull'], { env })).stderr).toContain('stepfast pull --all');
  expect((await b.run(['pull', '--all'], { env })).stdout).toContain(`${run}  cancelled`);
});

test('pull rejects unknown runs and options', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  await a.run(['push', '--yes'], { env });
  const missing = await b.run(['pull', 'nothing1'], { env });
  expect(missing.code).toBe(exit.notFound);
  expect(missing.stderr).toContain(`It has ${run}`);
  expect((await b.run(['pull', run, '--keep', 'both'], { env })).code).toBe(exit.usage);
  expect((await b.run(['pull', '--keep', 'mine'], { env })).code).toBe(exit.usage);
  expect(readdirSync(b.root)).not.toContain('.stepfast');
});

test('[P6/10] a person chooses between two histories by confirming, and the other one is set aside', async () => {
  using clones = await createTwoClones();
  const { a, run, env } = clones;
  await clones.diverge();
  const folder = join(a.root, '.stepfast/runs', run);
  const journal = (): string => readFileSync(join(folder, 'journal.jsonl'), 'utf8');
  const before = journal();
  const told = await a.run(['pull'], { env });
  expect(told.code).toBe(exit.no);
  expect(told.stderr).toMatch(/here +1 batch, up to batch 2/);
  expect(told.stderr).toMatch(/origin +1 batch, up to batch 2/);
  const keep = ['pull', run, '--keep', 'theirs'];
  expect(JSON.parse((await a.run([...keep, '--json'], { env })).stdout)).toMatchObject({
    code: 'person_only',
  });
  const agent = { ...env, CLAUDECODE: '1' };
  expect((await a.run(keep, { env: agent, terminal: true, input: ['y'] })).code).toBe(exit.no);
  expect((await a.run(keep, { env, terminal: true, input: ['theirs'] })).code).toBe(exit.no);
  expect(journal()).toBe(before);
  const kept = await a.run(keep, { env, terminal: true, input: ['y'] });
  expect(kept.code, kept.stderr).toBe(exit.ok);
  expect(journal()).toContain('Said on B');
  expect(journal()).not.toContain('Said on A');
  const aside = /local history: (\S+)/.exec(kept.stdout)?.[1] ?? '';
  expect(readFileSync(join(a.root, aside), 'utf8')).toContain('Said on A');
});

test('[P6/10] two histories are shown with their last three events, as in the log and without secrets', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  await clones.diverge();
  for (const text of ['Second on A', `Third on A with ${token}`, 'Fourth on A\u001b[2J'])
    await a.run(['note', 'decision', text, '--run', run], { env });
  for (const command of [['pull'], ['push', '--yes']]) {
    const { stderr } = await a.run(command, { env });
    expect(stderr).toMatch(
      / +by agent on .*\n {10}decision {2}Second on A\n {10}decision {2}Third on A with \[secret removed: .*\n {10}decision {2}Fourth on A\ufffd\[2J\n {2}origin /,
    );
    expect(stderr).toMatch(/ +by agent on .*\n {10}decision {2}Said on B\nno /);
    expect(stderr).not.toContain('Said on A');
    expect(stderr).not.toContain(token);
  }
  expect((await b.run(['pull', run], { env })).stdout).toContain('up to date');
});

test('[P6/10] after keeping the local history, pull says how to push it, and push does', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env, git } = clones;
  await clones.diverge();
  await a.run(['pull', run, '--keep', 'mine'], { env, terminal: true, input: ['y'] });
  const again = await a.run(['pull'], { env });
  expect(again.code, again.stderr).toBe(exit.ok);
  expect(again.stdout).toContain('kept the local history');
  expect(again.stdout).toContain(`stepfast push ${run.slice(-8)}`);
  expect(again.stderr).toBe('');
  // The choice applied to the remote history of that time.
  await b.run(['note', 'decision', 'More on B', '--run', run], { env });
  await b.run(['push', run, '--yes'], { env });
  expect((await a.run(['pull', run], { env })).code).toBe(exit.no);
  await a.run(['pull', run, '--keep', 'mine'], { env, terminal: true, input: ['y'] });
  const pushed = await a.run(['push', run], { env, terminal: true, input: ['y'] });
  expect(pushed.code, pushed.stderr).toBe(exit.ok);
  git(b, 'fetch', '-q', 'origin', `refs/stepfast/runs/${run}`);
  const log = git(b, 'log', '-p', '--format=', 'FETCH_HEAD');
  for (const note of ['Said on A', 'Said on B']) expect(log).toContain(note);
});

test('A18: an imported run and the same run of the remote are one history, on whichever side it continues', async () => {
  using clones = await createTwoClones();
  const { a, b, run, env } = clones;
  const pull = async (project: typeof a) =>
    JSON.parse((await project.run(['pull', run, '--json'], { env })).stdout);
  const note = (project: typeof a, text: string) =>
    project.run(['note', 'decision', text, '--run', run], { env });
  await a.run(['push', '--yes'], { env });
  const file = join(b.home, 'run.json');
  await a.run(['export', run, '--output', file], { env });
  expect((await b.run(['import', file], { env })).code).toBe(exit.ok);
  expect(await pull(b)).toMatchObject({ did: 'nothing', batches: 0, ahead: 0 });
  expect(JSON.parse((await b.run(['push', run, '--yes', '--json'], { env })).stdout)).toMatchObject({
    did: 'nothing',
  });
  // The remote continues, then this copy, then the first machine.
  await note(a, 'Said on A');
  await a.run(['push', run, '--yes'], { env });
  expect(await pull(b)).toMatchObject({ did: 'continued', batches: 1 });
  await note(b, 'Said on B');
  expect(await pull(b)).toMatchObject({ did: 'nothing', ahead: 1 });
  expect((await b.run(['push', run, '--yes'], { env })).code).toBe(exit.ok);
  expect(await pull(a)).toMatchObject({ did: 'continued', batches: 1 });
  const notes = (project: typeof a) =>
    project.run(['log', run, '--json'], { env }).then(({ stdout }) => stdout.match(/Said on \w/g));
  expect(await notes(a)).toEqual(await notes(b));
});
