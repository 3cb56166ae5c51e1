import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface HttpAnswer {
  status: number;
  body: string;
}

/** A keep-alive connection to a server of this machine. */
export interface Connection {
  /** One at a time, with a token of its own or the connection's. */
  call(method: string, path: string, body?: string, token?: string): Promise<HttpAnswer>;
  close(): void;
}

export function openConnection({ port, token: own = '' }: { port: number; token?: string }): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    close: () => agent.destroy(),
    call: (method, path, body, token = own) =>
      new Promise((resolve, reject) => {
        const authorization = `Bearer ${token}`;
        const headers = {
          authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        };
        const sent = request({ agent, host: '127.0.0.1', port, method, path, headers });
        sent.once('error', reject);
        sent.once('response', (answer) => {
          text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, body: read }), reject);
        });
        sent.end(body);
      }),
  };
}
