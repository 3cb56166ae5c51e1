import { spawn } from 'node:child_process';
import type { Check } from '../../runtime/index.ts';

/** A server that cannot start exits at once; one that is slow still works. */
const timeoutMs = 60_000;

/** Starts the server as a host would, and lists its tools. */
export async function checkMcp(
  main: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<Check> {
  const what = 'MCP server';
  const server = spawn(process.execPath, [main, 'mcp'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  server.stdin.on('error', () => {});
  const started = performance.now();
  const answer = await new Promise<number | undefined>((resolve) => {
    const late = setTimeout(resolve, timeoutMs, undefined);
    let text = '';
    server.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const tools = toolsIn(text);
      if (tools === undefined) return;
      clearTimeout(late);
      resolve(tools);
    });
    server.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined));
    for (const message of messages) server.stdin.write(`${JSON.stringify(message)}\n`);
  });
  server.kill();
  if (answer !== undefined && answer > 0)
    return {
      what,
      state: 'ok',
      says: `responds with ${answer} tools in ${Math.round(performance.now() - started)} ms`,
    };
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  return {
    what,
    state: 'wrong',
    says: `does not respond${lastLine === '' ? '' : `: ${lastLine}`}`,
    next: `check its output: node ${main} mcp`,
  };
}

const messages = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'doctor', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list' },
];

function toolsIn(text: string): number | undefined {
  for (const line of text.split('\n')) {
    try {
      const { id, result } = JSON.parse(line);
      if (id === 2) return Array.isArray(result?.tools) ? result.tools.length : 0;
    } catch {
      // The line is still incomplete.
    }
  }
  return undefined;
}
