/**
 * The processes of a run whose steps are commands: `run-worker wait RUN` waits for them as a session does and decides as
 * a person does; `run-worker gate-runner RUN ID` runs one, and first writes down its process id. Both may be killed at
 * any moment.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isRefused, openRuntime } from '../../src/runtime/index.ts';

export type RunLine = { type: 'ended'; status: string } | { type: 'failed'; what: string };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { worktree: { type: 'string' }, 'repo-root': { type: 'string' } },
});
const [mode, run = '', id = ''] = positionals;
if (mode === 'gate-runner') appendFileSync(join(homedir(), 'runners'), `${process.pid}\n`);
const runtime = openRuntime({
  cwd: process.cwd(),
  env: process.env,
  home: homedir(),
  worktree: values.worktree,
  repoRoot: values['repo-root'],
  runner: { program: process.execPath, args: [fileURLToPath(import.meta.url), 'gate-runner'] },
});
const waitMs = 30_000;

const say = (line: RunLine): void => {
  writeSync(1, `${JSON.stringify(line)}\n`);
};

/** Until the run has ended. What may have run is decided to be run again. */
async function follow(): Promise<void> {
  for (;;) {
    const { reply } = await runtime.call({ type: 'status' }, { session: 'worker' }, { run, waitMs });
    if (isRefused(reply)) return say({ type: 'failed', what: `status: ${reply.code}` });
    const { status, at } = reply;
    if (status === 'waiting') {
      const review = { type: 'review', verdict: 'revise', feedback: 'Again', at } as const;
      const decided = await runtime.call(review, { actor: { kind: 'person' } }, { run, waitMs });
      if (isRefused(decided.reply)) return say({ type: 'failed', what: `review: ${decided.reply.code}` });
    } else if (status !== 'running') return say({ type: 'ended', status });
  }
}

try {
  await (mode === 'gate-runner' ? runtime.runGates(run, id) : follow());
} catch (error) {
  if (mode === 'gate-runner') throw error;
  say({ type: 'failed', what: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
