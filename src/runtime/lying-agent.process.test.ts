import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { cliProgram } from '../testing/programs.ts';
import { type Answer, type AnsweredStatus, isRefused, type LocalRuntime } from './index.ts';

/** An agent that says whatever gets it to the end. Each of its tries is refused, or shown for what it is. */
const liar = { session: 'liar', host: 'scripted' };

const workflow = `name: honest
description: Build it, have it reviewed, tell about it
steps:
  - id: build
    type: action
    instructions: Make the tests pass.
    gate: [{ run: "test -e feature.txt", rerun: true }]
  - id: review
    type: action
    instructions: Show it.
    review: { by: human }
  - id: tell
    type: action
    instructions: Tell what was done.
`;

let project: TestProject;
let runtime: LocalRuntime;
let at: string;
let run: string;

beforeEach(async () => {
  project = createTestProject({ '.stepfast/workflows/honest.yaml': workflow });
  project.trust('honest');
  runtime = project.runtime();
  const begun = await runtime.start({ workflow: 'honest' }, liar);
  at = status(begun).at ?? '';
  run = begun.run ?? '';
});
afterEach(() => project[Symbol.dispose]());

function status({ reply }: Answer): AnsweredStatus {
  if (isRefused(reply)) throw new Error(`refused: ${JSON.stringify(reply)}`);
  return reply;
}

const say = (output: string, handle?: string): Promise<Answer> =>
  runtime.call({ type: 'advance', output, ...(handle === undefined ? {} : { at: handle }) }, liar);

const build = async (): Promise<AnsweredStatus> => {
  project.write({ 'feature.txt': 'done' });
  return status(await say('It is built.', at));
};

const journal = (): string => join(project.root, '.stepfast/runs', run, 'journal.jsonl');
const stateFile = (): string => join(project.root, '.stepfast/runs', run, 'state.json');

describe('a lying agent', () => {
  test('[pain 12] claims success, and the check says what is missing', async () => {
    const red = status(await say('All tests pass!', at));
    expect(red).toMatchObject({
      step: 'build',
      failed_gates: [{ pass: false, what: 'test -e feature.txt' }],
    });
  });

  test('[pain 11] skips ahead with a handle that it made up', async () => {
    const forged = at.replace('build', 'tell');
    expect((await say('Told.', forged)).reply).toMatchObject({ code: 'stale_handle', at });
    expect((await runtime.engine.view(run))?.state.step).toBe('build');
  });

  test('repeats itself, and nothing happens twice', async () => {
    await build();
    const again = status(await say('It is built.', at));
    expect(again).toMatchObject({ step: 'review', replayed: true });
    const events = (await runtime.engine.entries(run)).flatMap((entry) => entry.events);
    expect(events.filter(({ type }) => type === 'position.completed')).toHaveLength(1);
  });

  test('advances from a handle of before a rewind', async () => {
    await build();
    await runtime.call({ type: 'rewind', to: 'build' }, { actor: { kind: 'person' } });
    expect((await say('It is built.', at)).reply).toMatchObject({ code: 'stale_handle' });
  });

  test('[pain 19] approves its own work', async () => {
    const { at: review = '' } = await build();
    expect(status(await say('Looks good to me.', review))).toMatchObject({
      waiting: { for: 'review', by: 'human' },
    });
    const approve = { type: 'review', verdict: 'approve', at: review } as const;
    expect((await runtime.call(approve, liar)).reply).toMatchObject({ code: 'person_only' });
    const posing = { ...liar, actor: { kind: 'agent', name: 'human' } } as const;
    expect((await runtime.call(approve, posing)).reply).toMatchObject({ code: 'person_only' });
  });

  test('[pain 19] edits files after the gate: the run does not complete on them', async () => {
    const { at: review = '' } = await build();
    await say('Look.', review);
    const approved = await runtime.call(
      { type: 'review', verdict: 'approve', at: review },
      { actor: { kind: 'person' } },
    );
    const { at: last = '' } = status(approved);
    removeFeature(project);
    const red = status(await say('Everything is green.', last));
    expect(red).toMatchObject({ step: 'tell', status: 'running' });
    expect(red.failed_gates).toMatchObject([{ what: 'test -e feature.txt', pass: false }]);
  });

  test('reports green gates itself', async () => {
    const { reply } = await runtime.call(
      { type: 'gatesFinished', id: `${at}!1`, receipts: [{ gate: 0, pass: true }] },
      liar,
    );
    expect(reply).toMatchObject({ code: 'engine_only' });
  });

  test('adds a line to the journal: it does not count', async () => {
    const { at: review } = await build();
    const forged = { v: 1, seq: 99, prev: '0', events: [{ type: 'run.completed', now: 1 }], sum: '0' };
    appendFileSync(journal(), `${JSON.stringify(forged)}\n`);
    expect(status(await runtime.call({ type: 'status' }, liar))).toMatchObject({
      at: review,
      status: 'running',
    });
  });

  test.each(['the last line', 'a line in the middle'])(
    'changes %s of the journal: the run is refused',
    async (which) => {
      await say('All tests pass!', at);
      if (which !== 'the last line') await runtime.call({ type: 'note', kind: 'decision', text: 'x' }, liar);
      const before = readFileSync(journal(), 'utf8');
      writeFileSync(journal(), before.replaceAll('"pass":false', '"pass":true '));
      if (which !== 'the last line') writeFileSync(stateFile(), '{}');
      expect((await runtime.call({ type: 'status' }, liar)).reply).toMatchObject({
        code: 'store_corrupt',
        params: { message: expect.stringContaining(run) },
      });
      const checked = await runtime.store.check(run);
      expect(checked?.problems).not.toEqual([]);
    },
  );

  test('changes state.json: the journal wins', async () => {
    const text = readFileSync(stateFile(), 'utf8');
    writeFileSync(stateFile(), text.replaceAll('"build"', '"tell"'));
    expect(status(await runtime.call({ type: 'status' }, liar))).toMatchObject({ step: 'build', at });
  });

  test('exchanges the pinned workflow for one without gates', async () => {
    const file = join(project.root, '.stepfast/runs', run, 'workflow.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('test -e feature.txt', 'true'));
    const red = status(await say('All tests pass!', at));
    expect(red).toMatchObject({ step: 'build', failed_gates: [{ what: 'test -e feature.txt' }] });
  });

  test('deletes the journal: there is no run to go on with, and nothing is complete', async () => {
    await build();
    writeFileSync(journal(), '');
    const { reply } = await runtime.call({ type: 'status' }, liar);
    expect(isRefused(reply)).toBe(true);
  });
});

describe('a lying agent with a shell', () => {
  const stepfast = async (args: string[], env: Record<string, string> = {}) => {
    const { stdout, stderr, code } = await promisify(execFile)(process.execPath, [cliProgram, ...args], {
      cwd: project.root,
      env: { ...project.env, ...env },
    }).then(
      (done) => ({ ...done, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    );
    return { code, text: stdout + stderr };
  };

  test('approves with `stepfast approve`', async () => {
    const { at: review = '' } = await build();
    await say('Look.', review);
    const { code, text } = await stepfast(['approve']);
    expect(code).toBe(1);
    expect(text).toContain('terminal');
    expect((await runtime.engine.view(run))?.state.outputs.review).toBeUndefined();
  });

  test('[U1] ends the run with `stepfast cancel`', async () => {
    const { code, text } = await stepfast(['cancel', '-y', 'done', '--json']);
    expect(code).toBe(1);
    expect(text).toContain('"person_only"');
    expect((await runtime.engine.view(run))?.state.status).not.toBe('cancelled');
    const { reply } = await runtime.call({ type: 'cancel', reason: 'done' }, liar, { run });
    expect(reply).toMatchObject({ code: 'person_only' });
  });

  test('trusts its own commands with `stepfast trust`', async () => {
    project.write({
      '.stepfast/workflows/evil.yaml': workflow.replace('honest', 'evil').replace('test -e', 'touch'),
    });
    const { code } = await stepfast(['trust', 'evil']);
    expect(code).toBe(1);
    const { reply } = await runtime.start({ workflow: 'evil' }, liar);
    expect(reply).toMatchObject({ code: 'untrusted' });
    expect(existsSync(join(project.root, 'feature.txt'))).toBe(false);
  });

  test.skipIf(process.platform !== 'linux')(
    'borrows a terminal, but its environment gives it away',
    async () => {
      const { at: review = '' } = await build();
      await say('Look.', review);
      const suffix = run.slice(run.lastIndexOf('-') + 1);
      const { stdout } = await promisify(execFile)(
        'sh',
        ['-c', `echo ${suffix} | script -qec '${process.execPath} ${cliProgram} approve' /dev/null`],
        { cwd: project.root, env: { ...project.env, CLAUDECODE: '1' } },
      ).catch((error: { stdout: string }) => error);
      expect(stdout).toContain('CLAUDECODE');
      expect((await runtime.engine.view(run))?.state.outputs.review).toBeUndefined();
    },
  );
});

function removeFeature({ root }: TestProject): void {
  writeFileSync(join(root, 'unrelated.txt'), 'x');
  // The file that the gate asked for is gone again.
  project.git('rm', '-q', '--cached', '--ignore-unmatch', 'feature.txt');
  project.git('clean', '-fdq', '--', 'feature.txt');
}
