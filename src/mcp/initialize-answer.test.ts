import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { expect, it } from 'vitest';
import { openingAnswer } from './initialize-answer.ts';
import { createMcpServer } from './server.ts';

const client = { name: 'host', version: '2' };
const initialize = (params: object = {}) => ({
  jsonrpc: '2.0' as const,
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: { roots: { listChanged: true } },
    clientInfo: client,
    ...params,
  },
});
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const discover = (more: object = {}) => ({
  jsonrpc: '2.0' as const,
  id: 'first',
  method: 'server/discover',
  params: { _meta: { ...meta, ...more } },
});

/** What the SDK itself answers to a first message. */
async function answerOfSdk(message: JSONRPCMessage, toolsOnly = false): Promise<unknown> {
  return await new Promise((resolve) => {
    const transport: Transport = {
      start: async () => {},
      close: async () => {},
      send: async (answer) => resolve(answer),
    };
    const runtime = () => {
      throw new Error('no call is made');
    };
    const options = { runtime, version: '1.2.3', session: 'mcp-x', toolsOnly };
    serveStdio(() => createMcpServer(options), { transport });
    transport.onmessage?.(message);
  });
}

it.each([
  ...['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'].map((protocolVersion) =>
    initialize({ protocolVersion }),
  ),
  discover(),
])('the early answer is the one that the SDK gives: $method $params.protocolVersion', async (message) => {
  const early = openingAnswer(JSON.stringify(message), '1.2.3');
  expect(early).toBeDefined();
  expect(await answerOfSdk(message)).toEqual(early);
});

it('[pain 17] a server of tools only offers no prompts and no resources', async () => {
  for (const message of [initialize(), discover()]) {
    const early = openingAnswer(JSON.stringify(message), '1.2.3', { toolsOnly: true });
    expect(early?.result).toMatchObject({ capabilities: { tools: {} } });
    expect(JSON.stringify(early)).not.toMatch(/prompts|resources/);
    expect(await answerOfSdk(message, true)).toEqual(early);
  }
});

it.each([
  ['a version that is unknown', initialize({ protocolVersion: '2099-01-01' })],
  ['a handshake that claims the newer era', initialize({ _meta: meta })],
  ['a client without a name', initialize({ clientInfo: {} })],
  ['capabilities that are none', initialize({ capabilities: { roots: true } })],
  ['a revision that is unknown', discover({ 'io.modelcontextprotocol/protocolVersion': '2027-01-01' })],
  ['an envelope that is incomplete', discover({ 'io.modelcontextprotocol/clientInfo': undefined })],
  ['another request', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ['a notification', { jsonrpc: '2.0', method: 'initialize', params: initialize().params }],
  ['a list', [initialize()]],
])('%s is left to the SDK', (_, message) => {
  expect(openingAnswer(JSON.stringify(message), '1.2.3')).toBeUndefined();
});

it('what is no JSON is left to the SDK', () => {
  expect(openingAnswer('{"jsonrpc"', '1.2.3')).toBeUndefined();
  expect(openingAnswer('', '1.2.3')).toBeUndefined();
});
