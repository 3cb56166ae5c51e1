import type { lookup as systemLookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { guardedLookup, type Reach, whyNotUrl } from './guard.ts';

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface PostOptions {
  reach: Reach;
  /** For everything: name, connection, TLS, and the head of the answer. */
  timeoutMs: number;
  lookup?: typeof systemLookup;
}

/** `gone`: the receiver says that it wants no more. */
export type Posted = { ok: true; status: number } | { ok: false; why: string; gone?: true };

const maxAnswer = 64 * 1024;

/** Never throws, follows nothing, and reads of the answer what its sender needs to be rid of. */
export async function post({ url, headers, body }: Post, options: PostOptions): Promise<Posted> {
  const { reach, timeoutMs, lookup } = options;
  const unfit = whyNotUrl(url, reach);
  if (unfit !== undefined) return { ok: false, why: `The URL ${unfit}` };
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return await new Promise<Posted>((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: guardedLookup(reach, lookup),
      signal,
      agent: false,
    });
    sent.on('error', (error) => {
      resolve({ ok: false, why: signal.aborted ? `No answer within ${timeoutMs} ms` : error.message });
    });
    sent.on('response', (answer) => {
      const { statusCode: status = 0 } = answer;
      let read = 0;
      answer.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > maxAnswer) answer.destroy();
      });
      answer.on('error', () => undefined);
      if (status >= 200 && status < 300) return resolve({ ok: true, status });
      resolve({ ok: false, why: `Answered ${status}`, ...(status === 410 ? { gone: true } : {}) });
    });
    sent.end(body);
  });
}
