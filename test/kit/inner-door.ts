/**
 * Runs inside the network namespace of a host: a port on its loopback leads to the Unix socket of something outside.
 * `node inner-door.ts SOCKET PORT PROGRAM ARGS…`; its end is the program's end.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { joinSockets } from './join-sockets.ts';

const [socket = '', port = '', program = '', ...args] = process.argv.slice(2);

const door = createServer((near) => joinSockets(near, connect(socket)));

door.listen(Number(port), '127.0.0.1', () => {
  const inner = spawn(program, args, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => inner.kill(signal));
  inner.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143)));
});
