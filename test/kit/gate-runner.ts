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
  ...(values['repo-root'] === undefined ? {} : { repoRoot: values['repo-root'] }),
  ...(values.worktree === undefined ? {} : { worktree: values.worktree }),
  runner: { program: process.execPath, args: [import.meta.filename] },
}).runGates(run, id);
