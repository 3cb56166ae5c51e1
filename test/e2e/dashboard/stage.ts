import { createTestProject, type TestFiles } from '../../../src/testing/index.ts';
import { openProjectSite } from '../../kit/dashboard/site.ts';

const workflow = `name: feature
description: Plan it, build it in tasks, close it
budget: { turns: 40 }
loops:
  build:
    - { id: code, title: Write it, instructions: Write the code., gate: [{ run: sh check.sh }] }
    - { id: check, title: Check it, instructions: Check it. }
steps:
  - { id: plan, type: action, title: Plan, instructions: Plan it with care., review: { by: human } }
  - { id: build, type: loop, title: Build }
  - { id: close, type: action, title: Close, instructions: Close it., context: clear }
`;

const files = {
  '.stepfast/workflows/feature.yaml': workflow,
  'check.sh':
    'echo "checking"; echo "FAIL src/add.test.ts > adds"; echo "expected 3 to be 4"; test -f good\n',
};

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** A project whose gates run, with its dashboard. */
export async function openStage(more: TestFiles = {}) {
  const project = createTestProject({ ...files, ...more });
  project.trust('feature');
  const runtime = project.runtime();
  return {
    ...(await openProjectSite(project)),
    project,
    runtime,
    /** Of a run by a session of its own. */
    async start(summary: string) {
      const { reply, run = '' } = await runtime.start({ workflow: 'feature', summary }, { session: summary });
      const at = 'at' in reply ? (reply.at ?? '') : '';
      const call = (request: Parameters<typeof runtime.call>[0], who: object = { session: summary }) =>
        runtime.call(request, who, { run, waitMs: 60_000 });
      return { run, at, call };
    },
  };
}
