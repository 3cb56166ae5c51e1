import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redactSecrets } from '../../context/index.ts';
import { printable, truncate } from '../../messages/index.ts';
import { onPath } from '../../on-path.ts';
import { readGitHead } from '../../workspace/index.ts';
import type { Report } from '../report/report.ts';
import { reportMarkdown } from '../report/report-markdown.ts';
import { type Remote, withoutCredentials } from './git-remote.ts';
import type { Outgoing, Transfer } from './transfer.ts';

interface PullRequestOptions {
  transfer: Transfer;
  remote: Remote;
  report: Report;
  /** Its current branch is pushed. */
  worktree: string;
  /** The branch to merge into; that of the remote by default. */
  base?: string | undefined;
  title?: string | undefined;
}

/** What is about to be pushed and opened. `outgoing` is the run, with the secrets that were found in it. */
export interface PullRequestPlan {
  branch: string;
  base: string | undefined;
  title: string;
  body: string;
  worktree: string;
  outgoing: Outgoing;
}

/** GitHub takes 65,536; redaction may add some. */
const maxBody = 65_000;
const maxTitle = 72;

/** Sends nothing. `no_branch`: HEAD is detached. `on_base`: there is nothing to merge. */
export async function preparePullRequest(
  options: PullRequestOptions,
): Promise<PullRequestPlan | 'no_branch' | 'on_base'> {
  const { transfer, remote, report, worktree } = options;
  const { branch } = readGitHead(worktree);
  const base = options.base ?? (await remote.defaultBranch());
  if (branch === undefined) return 'no_branch';
  if (branch === base) return 'on_base';
  const title = options.title ?? report.summary ?? `${report.workflow} ${report.run}`;
  const body = (await redactSecrets(reportMarkdown(report, { maxCharacters: maxBody }))).text;
  return {
    branch,
    base,
    title: truncate(printable(title).trim(), maxTitle, (text) => text.length),
    body,
    worktree,
    outgoing: await transfer.prepare(report.run, remote),
  };
}

export type PullRequestOutcome =
  | { is: 'opened'; url: string }
  /** Pushed. `why`: what `gh` said; undefined if it is not on the PATH. */
  | { is: 'pushed'; command: string; why?: string | undefined }
  /** Another push of the run came first. */
  | { is: 'moved' };

/**
 * Pushes the branch and the run, then opens the pull request with the user's own `gh`. The caller has decided that the
 * plan's `outgoing` may be sent. Throws `remote_failed`.
 */
export async function openPullRequest(
  { branch, base, title, body, worktree, outgoing }: PullRequestPlan,
  { transfer, remote, env }: Pick<PullRequestOptions, 'transfer' | 'remote'> & { env: Environment },
): Promise<PullRequestOutcome> {
  await remote.pushBranch(branch, worktree);
  if (outgoing.is !== 'equal' && (await transfer.send(outgoing, remote)) === 'moved') return { is: 'moved' };
  const directory = await mkdtemp(join(tmpdir(), 'stepfast-pr-'));
  const file = join(directory, 'report.md');
  await writeFile(file, body);
  const args = [
    ...['pr', 'create', '--head', branch, ...(base === undefined ? [] : ['--base', base])],
    ...['--title', title, '--body-file', file],
  ];
  const command = ['gh', ...args].map(shellWord).join(' ');
  const gh = onPath('gh', env);
  if (gh === undefined) return { is: 'pushed', command };
  const { url, why } = await runGh(gh, args, worktree, env);
  // The file stays where the person still needs it.
  if (url === undefined) return { is: 'pushed', command, why };
  await rm(directory, { recursive: true, force: true });
  return { is: 'opened', url };
}

type Environment = Readonly<Record<string, string | undefined>>;

function runGh(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<{ url?: string | undefined; why: string }> {
  const options = { cwd, env: { ...env, GH_PROMPT_DISABLED: '1' }, timeout: 120_000 };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const url = error ? undefined : /https?:\/\/\S+/.exec(stdout)?.[0];
      resolve({ url, why: withoutCredentials((stderr || stdout || String(error)).trim()).slice(0, 400) });
    });
    child.stdin?.end();
  });
}

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
