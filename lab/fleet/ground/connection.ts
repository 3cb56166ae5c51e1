import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface HttpAnswer {
  status: number;
  body: string;
}

/** A keep-alive connection to a server of this machine, for one call at a time. */
export interface Connection {
  post(path: string, body: object, token: string): Promise<HttpAnswer>;
  close(): void;
}

export function openConnection(port: number): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    close: () => agent.destroy(),
    post: (path, body, token) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const sent = request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers });
        sent.once('error', reject);
        sent.once('response', (answer) => {
          text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, body: read }), reject);
        });
        sent.end(JSON.stringify(body));
      }),
  };
}
