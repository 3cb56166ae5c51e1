/** A minimal server with the MCP SDK and one echo tool. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'bare-sdk', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = z.object({ text: z.string() });
  server.registerTool('echo', { description: 'Echo', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});
