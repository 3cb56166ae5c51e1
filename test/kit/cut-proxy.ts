import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP proxy whose connections can be cut, as by a network that goes away. */
export async function startCutProxy() {
  let isCut = false;
  const server = createServer((incoming, answer) => {
    if (isCut) return void incoming.destroy();
    const { method, headers, url = '' } = incoming;
    const forwarded = request(url, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    restore() {
      isCut = false;
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
