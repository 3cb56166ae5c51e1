import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import { type GitResult, git, gitEnvironment } from '../../evidence/index.ts';

interface Options {
  input?: string | Uint8Array;
  /** Limit of stdout; more fails. */
  maxBytes?: number;
  timeoutMs?: number;
  env?: Record<string, string>;
  /** For a push of the user's own branch: another worktree, and the repository's hooks, which git-lfs needs. */
  hooksIn?: string;
}

/** Rejects only with `no_git`. */
export type Git = (args: readonly string[], options?: Options) => Promise<GitResult>;

/** How to reach a remote, and nothing that points git at another repository. */
const passed =
  /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_[A-Z_]+|PROXY_[A-Z_]+|HTTP_[A-Z_]+|ALLOW_PROTOCOL)$/;

const noHooks = 'core.hooksPath=/dev/null';

/** No daemons or prompts; git checks incoming objects too. */
const settings = [
  'core.fsmonitor=false',
  'fetch.fsckObjects=true',
  'fetch.writeCommitGraph=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'push.gpgSign=false',
  'submodule.recurse=false',
];

const defaultMs = 60_000;
const defaultBytes = 16 * 1024 * 1024;

export function createGit(cwd: string, base: Readonly<Record<string, string | undefined>>): Git {
  const how = Object.entries(base).flatMap(([name, value]): [string, string][] =>
    value !== undefined && passed.test(name) ? [[name, value]] : [],
  );
  const common = gitEnvironment(base, { ...Object.fromEntries(how), SSH_ASKPASS_REQUIRE: 'never' });
  return async (
    args,
    { input = '', maxBytes = defaultBytes, timeoutMs = defaultMs, env = {}, hooksIn } = {},
  ) => {
    const deadline = performance.now() + timeoutMs;
    const done = await git(args, {
      cwd: hooksIn ?? cwd,
      env: { ...common, ...env },
      deadline,
      input,
      maxBytes,
      settings: hooksIn === undefined ? [noHooks, ...settings] : settings,
    });
    if (done.failure !== 'missing') return done;
    const message = `git cannot be started, and runs travel over git: install it, or use ${commandName()} export`;
    throw new StepfastError('no_git', message);
  };
}
