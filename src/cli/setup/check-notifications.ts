import { commandName } from '../../command-name.ts';
import { listWorkflows } from '../../definition/index.ts';
import { ago } from '../../messages/index.ts';
import { type Check, type LocalRuntime, lastNotifications } from '../../runtime/index.ts';
import {
  mayNotify,
  type NotifyConfig,
  readNotifyConfig,
  stateDirectory,
  userConfigFile,
} from '../../workspace/index.ts';
import type { Io } from '../io.ts';
import { load } from '../project.ts';

const what = 'notifications';

/** Whether the user's own `notify` can be read, and how the last ones went. */
export function checkNotifications({ searchPath, project }: LocalRuntime, io: Io): Check[] {
  const file = userConfigFile(io.home, io.env);
  let config: NotifyConfig | undefined;
  try {
    if (mayNotify(file, [project.root, project.worktree], io.home)) config = readNotifyConfig(file);
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return [{ what, state: 'wrong', says, next: `fix it, then: ${commandName()} notify` }];
  }
  const ways = config ? Object.entries(config).flatMap(([way, set]) => (set ? [way] : [])) : [];
  if (ways.length === 0) return checkUnheard(searchPath, file);
  const failed = lastNotifications(stateDirectory(io)).filter(({ ok }) => !ok);
  if (failed.length === 0)
    return [
      { what, state: 'ok', says: `${ways.join(', ')}, from ${file}; to try it: ${commandName()} notify` },
    ];
  return failed.map(({ via, problem = '', now }) => ({
    what,
    state: 'wrong',
    says: `${via} failed ${ago(now, io.now())}: ${problem}`,
    next: `${commandName()} notify`,
  }));
}

/** Workflows of the project that notify nobody. */
function checkUnheard(searchPath: LocalRuntime['searchPath'], file: string): Check[] {
  const own = listWorkflows(searchPath.filter(({ kind }) => kind === 'project'));
  const names = own.flatMap(({ name, file: path }) =>
    load(path, searchPath).definition?.notify?.length ? [`'${name}'`] : [],
  );
  if (names.length === 0) return [];
  const says = `${names.join(', ')} would notify you, and your configuration does not say how`;
  return [{ what, state: 'note', says, next: `add to ${file}: notify: { bell: true }` }];
}
