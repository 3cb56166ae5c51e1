import type { Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { config } from 'zod/v4/core';

// Compiling validators at start-up costs more than it saves.
config({ jitless: true });

export { serveStdio } from '@modelcontextprotocol/server/stdio';
export { createMcpServer } from './server.ts';

/** stdin and stdout; a request that was `answered` before the SDK was loaded is not answered again. */
export function createTransport(answered?: string | number): Transport {
  const transport = new StdioServerTransport();
  if (answered === undefined) return transport;
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    if (!('result' in message) || message.id !== answered) return await send(message);
    transport.send = send;
  };
  return transport;
}
