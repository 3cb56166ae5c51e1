import { afterAll, beforeAll } from 'vitest';
import type { TestProject } from '../../src/testing/index.ts';
import { type Connection, connect, createProject, type Era } from './kit.ts';
import { asking, looped, parallel, plain, reading, reviewed } from './workflows.ts';

/** One server for the tests of a block, in a project with the sample workflows. */
export function stdioServer(era: Era) {
  let project: TestProject;
  let server: Connection;
  beforeAll(async () => {
    project = createProject({ asking, plain, looped, parallel, reading, reviewed });
    server = await connect(project, era);
  });
  afterAll(async () => {
    await server.close();
    project[Symbol.dispose]();
  });
  return {
    get project() {
      return project;
    },
    get client() {
      return server.client;
    },
    call: (...given: Parameters<Connection['call']>) => server.call(...given),
    start: async (workflow: string, summary = 'the work') =>
      (await server.call('workflow_start', { workflow, summary })).S,
    end: (run: string) => project.runtime().engine.remove(run),
  };
}
