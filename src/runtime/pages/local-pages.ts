import { checkingIn } from '../../engine/index.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { createPages } from './create-pages.ts';
import { filesPage } from './files-page.ts';
import type { PageSource } from './page-source.ts';
import { readLog } from './read-log.ts';
import { createRowIndex } from './row-index.ts';
import { localWorkflows } from './workflow-pages.ts';

/** The pages of the runs in this project's files. */
export function createLocalPages({ store, workspace, briefings }: LocalRuntime): PageSource {
  return createPages({
    load: (run) => store.load(run),
    entries: (run) => store.entries(run),
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
