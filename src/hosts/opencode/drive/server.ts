import { type RequestOptions, request } from 'node:http';
import { StepfastError } from '../../../errors.ts';
import { isPayload, type Payload } from '../../payload.ts';
import type { HostProcess } from '../../process.ts';

/** OpenCode's HTTP interface. */
export interface Server {
  /** May take as long as a turn. undefined for an answer without a body. Throws `host_failed` if it is refused. */
  request(method: string, path: string, body?: object): Promise<unknown>;
  /** Until the server ends. */
  listen(onEvent: (event: Payload) => void): Promise<void>;
}

const startMs = 120_000;

/** Waits until the process has printed its address. */
export async function connect(host: HostProcess, password: string): Promise<Server> {
  const url = await addressOf(host);
  const headers = {
    authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  return {
    async request(method, path, body) {
      const { status, text } = await ask(`${url}${path}`, { method, headers }, body);
      if (status >= 300)
        throw new StepfastError('host_failed', `OpenCode answered ${status}: ${text.slice(0, 500)}`);
      return text.trim() === '' ? undefined : JSON.parse(text);
    },
    async listen(onEvent) {
      const { body } = await fetch(`${url}/event`, { headers });
      const connected = Promise.withResolvers<void>();
      readEvents(body, (event) => {
        if (event.type === 'server.connected') connected.resolve();
        onEvent(event);
      }).catch(() => {});
      await Promise.race([connected.promise, host.finished]);
    },
  };
}

/** `fetch` gives up after five minutes, and a turn may take longer. */
const ask = (
  url: string,
  options: RequestOptions,
  body: object | undefined,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(url, options, async (answer) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk);
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      } catch (error) {
        reject(error);
      }
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

async function addressOf(host: HostProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  host.onLine((line) => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) resolve(url);
  });
  const late = setTimeout(resolve, startMs, undefined);
  host.finished.then(() => resolve(undefined));
  const url = await promise;
  clearTimeout(late);
  if (url !== undefined) return url;
  await host.end(0);
  throw new StepfastError('host_failed', `OpenCode did not start: ${host.stderr().trim().slice(-2_000)}`);
}

async function readEvents(
  body: ReadableStream<Uint8Array> | null,
  onEvent: (event: Payload) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines.filter((each) => each.startsWith('data:'))) {
      const event: unknown = JSON.parse(line.slice('data:'.length));
      if (isPayload(event)) onEvent(event);
    }
  }
}
