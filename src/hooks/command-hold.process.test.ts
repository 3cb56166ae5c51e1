import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { holdReleasedText, holdUnfinishedText, noticeForPerson } from '../messages/index.ts';
import { createHolds, type Holds, holdMs } from '../runtime/index.ts';
import { findProject, stateDirectory } from '../workspace/index.ts';
import { verdictOn } from './command-hold.ts';

const workflow = `name: w
description: x
steps:
  - { id: plan, type: action, instructions: x, review: { by: human } }
`;
/** Counts its runs in a file that git does not see. */
const tested = 'echo run >> .git/runs; cat result; test "$(cat result)" = green';

let kit: HookKit;

beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow, result: 'red\n' });
});
afterEach(() => kit[Symbol.dispose]());

const holdsOf = (root = kit.project.root): Holds =>
  createHolds(findProject(root), stateDirectory({ env: kit.project.env, home: kit.project.env.HOME ?? '' }));
const hold = (command = tested): void => void holdsOf().set(command, Date.now());
const runs = (): number => {
  const file = join(kit.project.root, '.git', 'runs');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
};
const marks = (): string[] =>
  readdirSync(join(kit.project.root, '.stepfast', 'sessions', 'marks')).filter((name) => name !== 'because');
const stop = (more: object = {}) => kit.fire('Stop', { stop_hook_active: false, ...more });

test('red holds the stop with the last lines of its output, green lets it go', async () => {
  hold();
  const { held } = await stop();
  expect(held).toContain('> red');
  kit.project.write({ result: 'green' });
  expect((await stop()).stdout).toBe('');
  expect(kit.log().map(({ what }) => what)).toEqual(['held', 'allowed']);
});

test('a tree that was green is not tested again until it changes', async () => {
  kit.project.write({ result: 'green' });
  hold();
  await stop();
  await stop();
  expect(runs()).toBe(1);
  kit.project.write({ 'other.txt': 'x' });
  await stop();
  expect(runs()).toBe(2);
});

test('a command that changes the tree is never taken for green before', async () => {
  hold('echo x >> written; echo run >> .git/runs');
  await stop();
  await stop();
  expect(runs()).toBe(2);
});

test('[pain 13] a stop is held three times at most, and the count begins anew after green', async () => {
  hold();
  for (const _ of [1, 2, 3]) expect((await stop()).held).toBeDefined();
  const { json, held } = await stop();
  expect(held).toBeUndefined();
  expect(json.systemMessage).toBe(holdReleasedText(tested, 1, 3));
  kit.project.write({ result: 'green' });
  expect((await stop()).stdout).toBe('');
  kit.project.write({ result: 'red' });
  expect((await stop()).held).toBeDefined();
});

test('a host that goes on because of a held stop is not held again, and the person is told', async () => {
  hold();
  const { json, held } = await stop({ stop_hook_active: true });
  expect(held).toBeUndefined();
  expect(json.systemMessage).toBe(holdReleasedText(tested, 1, 'this_turn'));
});

test('two sessions are counted each for itself', async () => {
  hold();
  for (const _ of [1, 2, 3]) await stop({ session_id: 'a' });
  expect((await stop({ session_id: 'a' })).held).toBeUndefined();
  expect((await stop({ session_id: 'b' })).held).toBeDefined();
});

test('two sessions that stop at once do not run it at the same moment', async () => {
  hold('test ! -e .git/busy && touch .git/busy && sleep 0.3 && rm .git/busy');
  const both = await Promise.all([stop({ session_id: 'a' }), stop({ session_id: 'b' })]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['', '']);
});

test('subagents are never held by it', async () => {
  hold();
  const agent = { agent_id: 'sub', agent_type: 'general-purpose' };
  expect((await kit.fire('SubagentStop', { stop_hook_active: false, ...agent })).stdout).toBe('');
  expect((await stop(agent)).stdout).toBe('');
  expect(runs()).toBe(0);
});

test('it never takes effect in another worktree', async () => {
  hold();
  const other = join(kit.project.root, '..', 'other');
  kit.project.git('worktree', 'add', '-q', other);
  expect((await stop({ cwd: other })).stdout).toBe('');
  expect(runs()).toBe(0);
  expect((await stop()).held).toBeDefined();
});

test('in a folder of the worktree it runs at the top', async () => {
  hold();
  const inner = join(kit.project.root, 'src');
  mkdirSync(inner);
  expect((await stop({ cwd: inner })).held).toContain('> red');
});

test('after 24 hours it is gone, with its mark', async () => {
  hold();
  expect(marks()).toEqual(['stop']);
  kit.wait(holdMs + 1);
  expect((await stop()).stdout).toBe('');
  expect(marks()).toEqual([]);
  expect(runs()).toBe(0);
});

test('a mark that comes with a repository runs nothing', async () => {
  hold();
  const file = join(holdsOf().folder, 'hold.json');
  const because = join(kit.project.root, '.stepfast', 'sessions', 'marks', 'because');
  const [reason = ''] = readdirSync(because);
  writeFileSync(file, readFileSync(file, 'utf8').replace(kit.project.root, '/elsewhere'));
  expect((await stop()).stdout).toBe('');
  expect(runs()).toBe(0);
  kit.wait(holdMs + 1000);
  await stop();
  expect(readdirSync(because)).not.toContain(reason);
});

test('a session under another home neither runs it nor takes its mark away', async () => {
  hold();
  const { HOME = '' } = kit.project.env;
  kit.project.env.HOME = join(kit.project.root, '..', 'elsewhere');
  expect((await stop()).stdout).toBe('');
  kit.project.env.HOME = HOME;
  expect(marks()).toEqual(['stop']);
  expect((await stop()).held).toBeDefined();
});

test('a session that waits for a person is not held', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  hold();
  expect((await stop()).held).toBeDefined();
  await kit.call(run, { type: 'advance', output: 'Planned.', at });
  const { json, held } = await stop();
  expect(held).toBeUndefined();
  const review = { do: 'wait', for: 'review', by: 'person', at: '' } as const;
  expect(json.systemMessage).toContain(`plan ${noticeForPerson(review)?.slice(0, 12)}`);
  expect((await stop()).stdout).toBe('');
});

test('what agents set for their commands does not reach it', async () => {
  kit.project.env.CLAUDECODE = '1';
  hold('test -z "$CLAUDECODE"');
  expect((await stop()).stdout).toBe('');
});

test('secrets in its output are taken out', async () => {
  const key = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');
  hold(`echo "token ${key}"; false`);
  const { held } = await stop();
  expect(held).toContain('secret removed');
  expect(held).not.toContain(key);
});

test('a check that does not finish in time does not hold the session, and says so', () => {
  const set = holdsOf().set('npm test', Date.now());
  const fresh = { times: 0, active: false };
  const { output } = verdictOn(set, { verdict: 'unfinished', ms: 45_000, busy: false }, fresh);
  expect(output).toEqual({ say: holdUnfinishedText('npm test', 45_000, false) });
  const busy = verdictOn(set, { verdict: 'unfinished', ms: 50_000, busy: true }, fresh);
  expect(busy.output).toEqual({ say: holdUnfinishedText('npm test', 50_000, true) });
});

test('a long output is told by its end, within bounds', () => {
  const set = holdsOf().set('npm test', Date.now());
  const tail = Array.from({ length: 200 }, (_, index) => `line ${index} ${'x'.repeat(600)}`).join('\n');
  const { output } = verdictOn(set, { verdict: 'red', exit: 1, ms: 10, tail }, { times: 0, active: false });
  expect(output.block).toContain('> line 199 x');
  expect(output.block?.length).toBeLessThan(4000);
});
