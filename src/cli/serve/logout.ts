import { createKnownRuns } from '../../engine/index.ts';
import { createMarks, dropLogin, findProject, stateDirectory, unmarkRun } from '../../workspace/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { projectOptions } from '../run-options.ts';

export const options = projectOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const project = findProject(io.cwd, { worktree: values.worktree, repoRoot: values['repo-root'] });
  const url = dropLogin(project.root, stateDirectory({ env: io.env, home: io.home }));
  const marks = createMarks(project.directory);
  // Without the marks, hooks no longer query the server for these runs.
  for (const name of url === undefined ? [] : createKnownRuns(project.directory).list(url))
    unmarkRun(marks, name);
  if (values.json) return printJson(io, { url: url ?? null }, exit.ok);
  io.stdout.write(
    url === undefined
      ? 'Not logged in.\n'
      : `Logged out of ${url}. New runs are stored locally. The token stays valid until it is revoked on the server.\n`,
  );
  if (io.env.STEPFAST_URL?.trim())
    io.stderr.write('STEPFAST_URL is still set, so this shell keeps using the server.\n');
  return exit.ok;
}
