import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createPushedRun, type PushedRun } from '../../../test/kit/pushed-run.ts';
import { exit } from '../exit.ts';

const node = dirname(process.execPath);

/** A `gh` that records its arguments and the body; the real one needs a network. */
function withGh(pushed: PushedRun, script = 'echo https://github.com/o/r/pull/7') {
  const folder = join(pushed.project.home, 'bin');
  const log = join(pushed.project.home, 'gh.txt');
  const body = join(pushed.project.home, 'body.md');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'gh');
  writeFileSync(
    file,
    `#!/bin/sh\nfor arg; do printf '%s\\n' "$arg" >> '${log}'; last=$arg; done\ncp "$last" '${body}'\n${script}\n`,
  );
  chmodSync(file, 0o755);
  const env = { ...pushed.env, PATH: [folder, pushed.env.PATH].join(delimiter) };
  return {
    env,
    args: () => readFileSync(log, 'utf8').trim().split('\n'),
    body: () => readFileSync(body, 'utf8'),
  };
}

/** Only git, the shell's tools and node: no gh of this machine. */
const withoutGh = (pushed: PushedRun) => ({
  ...pushed.env,
  PATH: [node, '/usr/bin', '/bin'].join(delimiter),
});

const heads = ({ project }: PushedRun): string => project.git('ls-remote', 'origin', 'refs/heads/*');
const headOf = ({ project }: PushedRun): string => project.git('rev-parse', 'HEAD').trim();

test('pr pushes the branch and the run, and opens the pull request with the report', async () => {
  using pushed = await createPushedRun({ finish: false });
  const { project, run } = pushed;
  pushed.commit('more', { 'more.txt': 'x' });
  await project.run(['note', 'decision', 'One more', '--run', run], { env: pushed.env });
  const outgoing = await project.run(['push', run, '--json'], { env: pushed.env });
  expect(JSON.parse(outgoing.stdout)).toMatchObject({ code: 'not_confirmed' });
  const gh = withGh(pushed);
  const { code, stdout, stderr } = await project.run(['pr', run, '--yes', '--json'], { env: gh.env });
  expect(code, stderr).toBe(exit.ok);
  expect(JSON.parse(stdout)).toMatchObject({
    did: 'opened',
    url: 'https://github.com/o/r/pull/7',
    branch: 'work',
    base: 'main',
  });
  expect(gh.args().slice(0, -1)).toEqual([
    ...['pr', 'create', '--head', 'work', '--base', 'main', '--title', 'Write it', '--body-file'],
  ]);
  expect(existsSync(gh.args().at(-1) ?? '')).toBe(false);
  const report = await project.run(['report', run], { env: pushed.env });
  expect(gh.body()).toBe(report.stdout);
  expect(heads(pushed)).toContain(`${headOf(pushed)}\trefs/heads/work`);
  const again = await project.run(['push', run, '--json'], { env: pushed.env });
  expect(JSON.parse(again.stdout)).toMatchObject({ did: 'nothing' });
});

test('pr sends nothing before it is confirmed', async () => {
  using pushed = await createPushedRun();
  pushed.commit('more', { 'more.txt': 'x' });
  const before = heads(pushed);
  const gh = withGh(pushed);
  const silent = await pushed.project.run(['pr', '--json'], { env: gh.env });
  expect(JSON.parse(silent.stdout)).toMatchObject({ code: 'not_confirmed' });
  const no = await pushed.project.run(['pr'], { env: gh.env, terminal: true, input: ['n'] });
  expect(no.code).toBe(exit.no);
  expect(heads(pushed)).toBe(before);
});

test('without gh, or where it fails, the command that opens the pull request is printed', async () => {
  using pushed = await createPushedRun();
  const env = withoutGh(pushed);
  const args = ['pr', pushed.run, '--yes', '--title', "It's here; rm -rf", '--json'];
  const none = await pushed.project.run(args, { env });
  expect(none.code).toBe(exit.ok);
  const { did, command } = JSON.parse(none.stdout);
  expect(did).toBe('pushed');
  expect(command).toMatch(
    /^gh pr create --head work --base main --title 'It'\\''s here; rm -rf' --body-file \S+$/,
  );
  expect(readFileSync(command.split(' ').at(-1), 'utf8')).toContain(pushed.run);
  const gh = withGh(pushed, 'echo "a pull request already exists" >&2; exit 1');
  const failed = await pushed.project.run(['pr', pushed.run, '--yes', '--json'], { env: gh.env });
  expect(failed.code).toBe(exit.no);
  expect(JSON.parse(failed.stdout)).toMatchObject({ did: 'pushed', why: 'a pull request already exists' });
});

test('pr never forces: a branch that moved on the remote is kept', async () => {
  using pushed = await createPushedRun();
  const { project } = pushed;
  const other = pushed.clone('--branch', 'work');
  other.write({ 'theirs.txt': 'x' });
  other.git('add', '-A');
  other.git('commit', '-q', '-m', 'theirs');
  other.git('push', '-q', 'origin', 'work');
  const before = heads(pushed);
  project.git('commit', '-q', '--amend', '-m', 'rewritten');
  const gh = withGh(pushed);
  const { code, stdout, stderr } = await project.run(['pr', pushed.run, '--yes'], { env: gh.env });
  expect(code, stdout + stderr).toBe(exit.no);
  expect(heads(pushed)).toBe(before);
  expect(() => gh.args()).toThrow();
});

test('pr refuses a detached HEAD, the base branch itself and a run with a secret', async () => {
  using pushed = await createPushedRun({ finish: false });
  const { project, run } = pushed;
  const gh = withGh(pushed);
  const refusal = async (...more: string[]): Promise<unknown> =>
    JSON.parse((await project.run(['pr', run, '--yes', '--json', ...more], { env: gh.env })).stdout).code;
  expect(await refusal('--base', 'work')).toBe('on_base');
  project.git('checkout', '-q', '--detach');
  expect(await refusal()).toBe('no_branch');
  project.git('checkout', '-q', 'work');
  const token = `gh${'p_'}${'aB3dE5'.repeat(6)}`;
  await project.run(['note', 'decision', `Use ${token}`, '--run', run], { env: pushed.env });
  expect(await refusal()).toBe('secrets_found');
  expect(() => gh.args()).toThrow();
});

test('hooks of the repository run for the branch, as with git push', async () => {
  using pushed = await createPushedRun();
  const { project } = pushed;
  const hook = join(project.root, '.git/hooks/pre-push');
  writeFileSync(hook, '#!/bin/sh\necho "not on Fridays" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  pushed.commit('more', { 'more.txt': 'x' });
  const before = heads(pushed);
  expect((await project.run(['pr', pushed.run, '--yes'], { env: withGh(pushed).env })).code).toBe(exit.no);
  expect(heads(pushed)).toBe(before);
});
