import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { startHttp } from '../../../test/kit/server/http.ts';
import { connect, type Era } from '../../../test/kit/server/mcp-http.ts';
import { plain } from '../../../test/mcp/workflows.ts';
import { parseWorkflow } from '../../definition/index.ts';
import type { Definition } from '../../machine/index.ts';
import type { Backend } from '../../server/index.ts';
import { createTokens } from '../../store/postgres/index.ts';
import { openBackend } from './backend.ts';
import { createMcpTools } from './mcp-tools.ts';

const cleanups: (() => PromiseLike<unknown>)[] = [];
const urls: string[] = [];
let database: TestDatabase;
let backend: Backend;

beforeAll(async () => {
  database = await openDatabase();
  cleanups.push(() => database[Symbol.asyncDispose]());
  // Each server has a pool of its own.
  for (let count = 0; count < 2; count += 1) {
    backend = await openBackend({ url: database.url, connections: 4, onError: () => {} });
    cleanups.push(backend.close);
    const mcp = await createMcpTools({ backend, version: '0', clock: Date.now, onError: () => {} });
    const http = await startHttp(backend, { mcp });
    cleanups.push(() => http.listening.close());
    urls.push(`${http.url}/mcp`);
  }
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const workflow = (text: string): Definition => {
  const { definition } = parseWorkflow(text, { file: 'test.yaml' });
  if (!definition) throw new Error('the workflow is broken');
  return definition;
};

async function tokenOf(project: number): Promise<string> {
  const scopes = ['read', 'write'];
  return (await createTokens(database.url).create(project, { kind: 'agent', name: 'bot', scopes })).token;
}

test.each(['2025', '2026'] satisfies Era[])(
  'a session finds its run among many others, at any server, also after its end (%s era)',
  async (era) => {
    const project = await database.project();
    const engine = backend.engine(project);
    const { call, close, asked } = await connect(urls, await tokenOf(project), { era });
    await backend
      .publications(project)
      .publish({ definition: workflow(plain), hash: 'h', digest: 'd', by: 'ada' });
    const { S } = await call('workflow_start', { workflow: 'plain', summary: 'mine' });
    for (let count = 0; count < 250; count += 1)
      await engine.begin(workflow(plain), { type: 'start', now: Date.now(), session: 'laptop' });
    for (let times = 0; times < 2; times += 1)
      expect((await call('workflow_status')).S).toMatchObject({ run: S.run });
    await call('workflow_advance', { output: 'planned' });
    await call('workflow_advance', { output: 'built' });
    for (let times = 0; times < 2; times += 1)
      expect((await call('workflow_status')).S).toMatchObject({ run: S.run, status: 'complete' });
    expect(new Set(asked)).toEqual(new Set([0, 1]));
    await engine.remove(S.run);
    expect((await call('workflow_status')).S).toMatchObject({ code: 'no_run' });
    await close();
  },
);

test('S4: what a person published last under a name is what is started, never what was pinned, and nothing of another project', async () => {
  const [mine, other] = [await database.project(), await database.project()];
  const older = workflow(plain);
  const newer = { ...older, description: 'Newer' };
  const publications = backend.publications(mine);
  for (const [index, definition] of [newer, older, newer].entries())
    await publications.publish({ definition, hash: `h${index % 2}`, digest: 'd', by: 'ada' });
  await backend.engine(mine).begin({ ...older, description: 'Pinned' }, { type: 'start', now: Date.now() });
  expect(await publications.newest(10)).toEqual([newer]);
  expect(await publications.newest(1, 'plain')).toEqual([newer]);
  expect(await publications.newest(1, 'plain\u0000')).toEqual([]);
  expect(await backend.publications(other).newest(10)).toEqual([]);
  expect(await publications.mayStart('another')).toBe(true);
  const sessions = backend.sessions(mine);
  const { run } = await backend.engine(mine).begin(older, { type: 'start', now: Date.now() });
  await sessions.join('s', run, 1);
  await sessions.join('s', run, 2);
  expect((await sessions.runsOf('s', 10)).map((each) => each.run)).toEqual([run]);
  expect(await backend.sessions(other).runsOf('s', 10)).toEqual([]);
  await sessions.join('s\u0000', run, 3);
  expect(await sessions.runsOf('s\u0000', 10)).toEqual([]);
});
