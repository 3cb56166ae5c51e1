import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export interface RawClient {
  pid: number;
  request(method: string, params?: object): Promise<Record<string, unknown>>;
  notify(method: string): void;
  /** Waits until the process exits. */
  close(): Promise<void>;
}

const opening = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** JSON-RPC over stdio without an SDK, whose overhead would distort the measurement. */
export function openClient(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): RawClient {
  const server: ChildProcessWithoutNullStreams = spawn(process.execPath, args, options);
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  let rest = '';
  let last = 0;
  server.stderr.pipe(process.stderr);
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      if (error) throw new Error(`${args.join(' ')}: ${error.message}`);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  return {
    pid: server.pid ?? 0,
    async request(method, params = {}) {
      last += 1;
      const id = last;
      server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return await new Promise((resolve) => waiting.set(id, resolve));
    },
    notify(method) {
      server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`);
    },
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.stdin.end();
      await ended;
    },
  };
}

export async function handshake(client: RawClient): Promise<void> {
  await client.request('initialize', opening);
  client.notify('notifications/initialized');
}
