import { expect, test } from 'vitest';
import { definition, projects, startHttp } from '../../../test/kit/server/http.ts';
import { connect } from '../../../test/kit/server/mcp-http.ts';
import { createMemoryBackend } from '../../../test/kit/server/memory-backend.ts';
import type { Definition } from '../../machine/index.ts';
import { hashToken } from '../../server/index.ts';
import { createMcpTools } from './mcp-tools.ts';

test('over MCP a bundled name is the bundled workflow, whatever was published or begun under it', async () => {
  const backend = createMemoryBackend(projects);
  const mcp = await createMcpTools({ backend, version: '0', clock: Date.now, onError: () => {} });
  await using server = await startHttp(backend, { mcp });
  const token = `sf_0_${'x'.repeat(43)}`;
  backend.addToken(hashToken(token), {
    id: '0',
    project: { id: projects.north, name: 'north' },
    kind: 'agent',
    name: 'bot',
    scopes: ['read', 'write'],
  });
  for (const name of ['go', 'ours', 'begun']) {
    const body = {
      definition: { ...definition, name, description: `Our own ${name}` },
      command: { type: 'start' },
    };
    expect(await server.call('POST', '/v1/runs', { token, body })).toMatchObject({ status: 200 });
    if (name !== 'begun')
      await backend
        .publications(projects.north)
        .publish({ definition: body.definition as Definition, hash: name, digest: name, by: 'Ada' });
  }
  const { client, call, close } = await connect([`${server.url}/mcp`], token);
  const [listed] = (await client.readResource({ uri: 'stepfast://workflows' })).contents;
  const text = listed && 'text' in listed ? listed.text : '';
  expect(text).toContain('Our own ours');
  expect(text).not.toContain('Our own go');
  expect(text).not.toContain('Our own begun');
  const started = await call('workflow_start', { workflow: 'go', inputs: { task: 'fix it' } });
  expect(started.S.run).toMatch(/^go-/);
  const begun = await backend.engine(projects.north).view(started.S.run);
  expect(begun?.definition.description).toBe("Do a task, checked by the project's own tests");
  const own = await call('workflow_start', { workflow: 'ours', summary: 'ours' });
  expect(own.S.run).toMatch(/^ours-/);
  await close();
});
