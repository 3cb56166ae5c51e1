/**
 * Runs inside the namespace: a port on its loopback leads to the model's Unix socket, and the host gets that address.
 * `node inside.ts SOCKET PROGRAM ARGS…`; its end is the host's end. STEPFAST_BRIDGE_PORT: for hosts whose settings name
 * the address.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [socket = '', program = '', ...args] = process.argv.slice(2);

const bridge = createServer((near) => {
  const far = connect(socket);
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
});

bridge.listen(Number(process.env.STEPFAST_BRIDGE_PORT ?? 0), '127.0.0.1', () => {
  const address = bridge.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const env = { ...process.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
  const host = spawn(program, args, { stdio: 'inherit', env });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => host.kill(signal));
  host.on('error', (error) => {
    console.error(error.message);
    process.exit(127);
  });
  host.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143)));
});
