/** The process that runs gates in tests: what `stepfast gate-runner` does, without the command line. */
import { parseArgs } from 'node:util';
import { openRuntime } from '../../src/runtime/index.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'repo-root': { type: 'string' }, worktree: { type: 'string' } },
});
const [run = '', id = ''] = positionals;
await openRuntime({
  cwd: process.cwd(),
  repoRoot: values['repo-root'],
  worktree: values.worktree,
  runner: { program: process.execPath, args: [import.meta.filename] },
}).runGates(run, id);
