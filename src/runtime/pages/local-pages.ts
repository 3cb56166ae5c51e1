import { checkingIn } from '../../engine/index.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { createPages } from './create-pages.ts';
import { filesPage } from './files-page.ts';
import type { PageSource } from './page-source.ts';
import { readLog } from './read-log.ts';
import { createRowIndex } from './row-index.ts';
import { localWorkflows } from './workflow-pages.ts';

/** The pages of the runs in this project's files. */
export function createLocalPages({ engine, store, workspace, briefings }: LocalRuntime): PageSource {
  return createPages({
    // Also of a run on a server, for a report.
    load: engine.view,
    entries: engine.entries,
    rows: createRowIndex(store),
    briefings,
    workspace,
    workflows: async () => localWorkflows(workspace),
    async log({ run, state }, request) {
      const isLive = checkingIn(state, request.check) !== undefined;
      return await readLog(workspace.gates.logsOf(run, request.check), request, isLive);
    },
    files: (view, entries) => filesPage(view, entries, workspace),
  });
}
