import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { told } from '../../test/kit/told.ts';
import { hashDefinition, loadWorkflowTemplateFromString } from '../definition/index.ts';
import { respond } from '../machine/index.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { type CallerIdentity, isRefused, type LocalRuntime } from './index.ts';

/** A repository cloned from a stranger, and what can go wrong around a runner. */
const agent: CallerIdentity = { session: 'one' };
const other: CallerIdentity = { session: 'two' };
const person: CallerIdentity = { actor: { kind: 'person' } };

const gated = (command: string, more = ''): string => `name: checked
description: One step behind a gate
steps:
  - id: do
    type: action
    instructions: Do it.
    gate: [{ run: '${command}' }]
    ${more}
  - { id: after, type: action, instructions: Tell. }
`;

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project[Symbol.dispose]());

async function begun(yaml: string, who = agent): Promise<{ runtime: LocalRuntime; run: string; at: string }> {
  project.write({ '.stepfast/workflows/checked.yaml': yaml });
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'workflow');
  project.trust('checked');
  const runtime = project.runtime();
  const { run, at = '' } = told(await runtime.start({ workflow: 'checked' }, who));
  return { runtime, run, at };
}

const pwned = (): boolean => existsSync(join(project.root, 'pwned'));

describe('a run that came with the repository', () => {
  test('runs no command that its definition does not have', async () => {
    const harmless = loadWorkflowTemplateFromString(
      gated('true').replace("run: 'true'", 'exists: README.md'),
    );
    const runtime = project.runtime();
    const begin = { type: 'start', now: Date.now(), run: 'checked-20261115-bbbbbbbb' } as const;
    const first = respond(harmless, null, begin);
    const asked = respond(harmless, first.state, { type: 'advance', now: Date.now(), output: 'done' });
    const forged = JSON.parse(
      JSON.stringify(asked).replaceAll('"exists":"README.md"', '"run":"touch pwned"'),
    );
    const events = [...first.events, ...forged.events];
    const pinned = { definition: harmless, hash: hashDefinition(harmless) };
    await runtime.store.create(begin.run, pinned, { now: begin.now, events }, forged.state);
    const red = told(await runtime.call({ type: 'advance', output: 'done' }, agent));
    expect(red.failed_gates?.[0]?.tail).toContain('is no command of');
    expect(pwned()).toBe(false);
  });

  test.each(['notes/rc', '.git/hooks/post-checkout'])('writes no to-do list to %s', async (path) => {
    const home = project.env.HOME ?? '';
    symlinkSync(home, join(project.root, 'notes'));
    project.write({ '.stepfast/workflows/checked.yaml': `${gated('true')}todo_path: ${path}\n` });
    project.trust('checked');
    const { reply } = await project.runtime().start({ workflow: 'checked' }, agent);
    expect(reply).toMatchObject({ code: 'bad_config' });
    expect(existsSync(join(home, 'rc'))).toBe(false);
  });

  test('names a pipe as reading without holding anybody', async () => {
    const { runtime } = await begun(gated('true'));
    execFileSync('mkfifo', [join(project.root, 'pipe')]);
    const note = { type: 'note', kind: 'reading', key: 'x', text: 'pipe' } as const;
    expect(isRefused((await runtime.call(note, agent)).reply)).toBe(false);
  });
});

describe('gates', () => {
  test('that cannot be run are red, with the reason', async () => {
    const { runtime, run, at } = await begun(gated('true'));
    // Where the output should go there is a file.
    writeFileSync(join(project.root, '.stepfast/runs', run, 'gates'), '');
    const answer = await runtime.call({ type: 'advance', output: 'done', at }, agent).catch((error) => error);
    expect(JSON.stringify(answer)).toMatch(/could not be run|ENOTDIR|EEXIST/);
  });

  test('a late word that a runner is dead does not touch the next gate run', async () => {
    const { runtime, run, at } = await begun(gated('sleep 60'));
    const waiting = told(await runtime.call({ type: 'advance', output: 'done', at }, agent, { waitMs: 0 }));
    const late = { type: 'status', now: Date.now(), at, runnerAlive: false } as const;
    const { interrupted } = await runtime.engine.execute(run, late, undefined, { check: `${at}!0` });
    expect(interrupted).toBe(false);
    expect(told(await runtime.call({ type: 'status', at }, agent)).checking?.id).toBe(waiting.checking?.id);
    await runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } });
  });

  test('an approval from another worktree applies to the tree in which the work was done', async () => {
    const yaml = gated('test -e feature.txt', 'review: { by: human }');
    project.write({ '.stepfast/workflows/checked.yaml': yaml });
    project.git('add', '-A');
    project.git('commit', '-q', '-m', 'workflow');
    project.trust('checked');
    const linked = join(project.root, '../linked');
    project.git('worktree', 'add', '-q', linked);
    const there = project.runtime({ cwd: linked });
    const { at = '', run } = told(await there.start({ workflow: 'checked' }, agent));
    writeFileSync(join(linked, 'feature.txt'), 'built');
    expect(told(await there.call({ type: 'advance', output: 'built', at }, agent)).status).toBe('waiting');
    writeFileSync(join(linked, 'more.txt'), 'changed after the gates');
    const approve = { type: 'review', verdict: 'approve', at } as const;
    expect(told(await project.runtime().call(approve, person)).step).toBe('after');
    const view = await there.engine.view(run);
    const trees = view?.state.outputs.do;
    expect(trees?.receipts[0]?.tree).toBe(trees?.tree);
  });
});

describe('a claimed task', () => {
  const crowd = `name: crowd
description: Several agents
loops:
  build: [{ id: write, instructions: "Write {task.title}." }]
steps:
  - { id: build, type: loop, parallel: 2 }
  - { id: tell, type: action, instructions: Tell. }
`;
  const claimed = async (): Promise<{ runtime: LocalRuntime; worktree: string; at: string }> => {
    project.write({ '.stepfast/workflows/crowd.yaml': crowd });
    const runtime = project.runtime();
    await runtime.start({ workflow: 'crowd' }, agent);
    await runtime.call({ type: 'setTasks', loop: 'build', tasks: [{ id: 'a.lock', title: 'A' }] }, agent);
    const answer = await runtime.call({ type: 'claim', holder: 'one' }, agent);
    return { runtime, worktree: answer.worktree ?? '', at: told(answer).at ?? '' };
  };

  test('runs no hook of the repository', async () => {
    mkdirSync(join(project.root, '.husky'));
    writeFileSync(join(project.root, '.husky/post-checkout'), `#!/bin/sh\ntouch '${project.root}/hooked'\n`, {
      mode: 0o755,
    });
    project.git('config', 'core.hooksPath', '.husky');
    await claimed();
    expect(existsSync(join(project.root, 'hooked'))).toBe(false);
  });

  test('that is done but not merged is told with the next step', async () => {
    const { runtime, worktree, at } = await claimed();
    writeFileSync(join(worktree, 'work.txt'), 'work');
    const done = await runtime.call({ type: 'advance', output: 'written', at }, agent);
    expect(told(done).step).toBe('tell');
    expect(done.warning).toContain('merge stepfast/');
  });

  test('is what a status of its holder means, with its worktree', async () => {
    const { runtime, worktree, at } = await claimed();
    const answer = await runtime.call({ type: 'status' }, agent);
    expect(told(answer)).toMatchObject({ at, instructions: 'Write A.' });
    expect(answer.worktree).toBe(worktree);
  });
});

describe('a caller that does not name a run', () => {
  test('keeps its words and its name out of a run that refuses them', async () => {
    const { runtime, run, at } = await begun(gated('true'));
    const stale = at.replace('#1', '#7');
    await runtime.call({ type: 'advance', output: 'x'.repeat(5000), at: stale }, other);
    const view = await runtime.engine.view(run);
    expect(Object.keys(view?.state.sessions ?? {})).toEqual(['one']);
    expect(existsSync(join(project.root, '.stepfast/runs', run, 'outputs'))).toBe(false);
  });
});
