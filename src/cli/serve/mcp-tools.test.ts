import { randomBytes } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { projects, startHttp } from '../../../test/kit/server/http.ts';
import { connect, type Era, type HttpConnection } from '../../../test/kit/server/mcp-http.ts';
import { createMemoryBackend } from '../../../test/kit/server/memory-backend.ts';
import { plain, reviewed } from '../../../test/mcp/workflows.ts';
import { parseWorkflow } from '../../definition/index.ts';
import { hashToken, type TokenRecord } from '../../server/index.ts';
import { createMcpTools } from './mcp-tools.ts';

const eras: readonly Era[] = ['2025', '2026'];
const cleanups: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Two servers as `stepfast serve` puts them together, with everything but the database. */
async function served() {
  const backend = createMemoryBackend(projects);
  const urls: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const mcp = await createMcpTools({ backend, version: '0', clock: Date.now, onError: () => {} });
    const http = await startHttp(backend, { mcp });
    cleanups.push(() => http[Symbol.asyncDispose]());
    urls.push(`${http.url}/mcp`);
  }
  const token = (record: Partial<TokenRecord> = {}): string => {
    const id = randomBytes(6).toString('hex');
    const made = `sf_${id}_${randomBytes(32).toString('base64url')}`;
    const project = { id: projects.north, name: 'north' };
    const known = {
      id,
      project,
      kind: 'agent' as const,
      name: 'bot',
      scopes: ['read', 'write'] as const,
    };
    backend.addToken(hashToken(made), { ...known, ...record });
    return made;
  };
  for (const text of [plain, reviewed]) {
    const { definition } = parseWorkflow(text, { file: 'test.yaml' });
    if (!definition) throw new Error('the workflow is broken');
    const { name } = definition;
    await backend.publications(projects.north).publish({ definition, hash: name, digest: name, by: 'Ada' });
  }
  return { backend, urls, token };
}

async function connected(...args: Parameters<typeof connect>): Promise<HttpConnection> {
  const connection = await connect(...args);
  cleanups.push(connection.close);
  return connection;
}

it.each(eras)('an agent cannot approve its own work, whatever its token is called (%s era)', async (era) => {
  const { backend, urls, token } = await served();
  const { call } = await connected(urls, token({ name: 'critic' }), { era });
  const { S } = await call('workflow_start', { workflow: 'reviewed', summary: 'mine' });
  const written = await call('workflow_advance', { at: S.at, output: 'written' });
  expect(written.S).toMatchObject({ waiting: { by: 'critic' } });
  const verdict = { at: S.at, output: 'good', verdict: 'approve' };
  expect((await call('workflow_advance', verdict)).S).toMatchObject({ code: 'own_work' });
  const entries = await backend.engine(projects.north).entries(S.run);
  for (const { actor } of entries) {
    expect(actor).toMatchObject({ kind: 'agent', principal: { kind: 'agent', subject: 'critic' } });
    expect(actor).not.toHaveProperty('name');
  }
});

it('a token that may only read calls no tool', async () => {
  const { urls, token } = await served();
  await expect(connect(urls, token({ scopes: ['read'] }))).rejects.toThrow(/403|write/);
});
