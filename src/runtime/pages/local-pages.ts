import { checkingIn } from '../../engine/index.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { createPages } from './create-pages.ts';
import type { PageSource } from './page-source.ts';
import { readLog } from './read-log.ts';
import { createRowIndex } from './row-index.ts';

/** The pages of the runs in this project's files. */
export function createLocalPages({ store, workspace, briefings, project }: LocalRuntime): PageSource {
  return createPages({
    load: (run) => store.load(run),
    entries: (run) => store.entries(run),
    rows: createRowIndex(store),
    briefings,
    values: { project_root: project.root },
    async log({ run, state }, request) {
      const isLive = checkingIn(state, request.check) !== undefined;
      return await readLog(workspace.gates.logsOf(run, request.check), request, isLive);
    },
  });
}
