/**
 * A way into the network namespace of a host that serves HTTP. `node serve-door.ts SOCKET COMMAND…` outside: a port here
 * leads to the socket, and the address that the host prints becomes that of the port. `… SOCKET inside COMMAND…`: the
 * socket leads to the port of the host.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { joinSockets } from './join-sockets.ts';

const [socket = '', ...rest] = process.argv.slice(2);
const isInside = rest[0] === 'inside';
const [program = '', ...args] = isInside ? rest.slice(1) : rest;
const innerPort = 4096;

const door = createServer((near) =>
  joinSockets(near, isInside ? connect(innerPort, '127.0.0.1') : connect(socket)),
);
const start = (): void => {
  const host = spawn(program, args, { stdio: ['inherit', isInside ? 'inherit' : 'pipe', 'inherit'] });
  const address = door.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  if (host.stdout)
    createInterface({ input: host.stdout }).on('line', (line) =>
      console.log(line.replace(`:${innerPort}`, `:${port}`)),
    );
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => host.kill(signal));
  host.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143)));
};
// One that was killed leaves its socket.
if (isInside) rmSync(socket, { force: true });
if (isInside) door.listen(socket, start);
else door.listen(0, '127.0.0.1', start);
