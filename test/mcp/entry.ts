/** `stepfast mcp` and the hidden gate runner, without the rest of the command line. */
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serveMcp } from '../../src/mcp/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    worktree: { type: 'string' },
    'repo-root': { type: 'string' },
    'workflow-path': { type: 'string' },
    'wait-ms': { type: 'string' },
  },
});
const [command, run = '', id = ''] = positionals;
const project = {
  cwd: process.cwd(),
  env: process.env,
  home: homedir(),
  runner: { program: process.execPath, args: [fileURLToPath(import.meta.url), 'gate-runner'] },
  ...(values.worktree === undefined ? {} : { worktree: values.worktree }),
  ...(values['repo-root'] === undefined ? {} : { repoRoot: values['repo-root'] }),
  ...(values['workflow-path'] === undefined ? {} : { workflowPath: values['workflow-path'] }),
};
if (command === 'gate-runner') {
  const { openRuntime } = await import('../../src/runtime/index.ts');
  await openRuntime(project).runGates(run, id);
} else {
  const waitMs = values['wait-ms'];
  await serveMcp({
    ...project,
    version: '0.0.0-test',
    ...(waitMs === undefined ? {} : { waitMs: Number(waitMs) }),
  });
  process.exit(0);
}
