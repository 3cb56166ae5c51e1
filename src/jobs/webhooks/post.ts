import type { lookup as systemLookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AllowedTargets, guardedLookup, urlProblem } from './guard.ts';

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface PostOptions {
  allow: AllowedTargets;
  /** Covers DNS, connection, TLS and the response headers. */
  timeoutMs: number;
  lookup?: typeof systemLookup;
}

/** `gone`: the receiver returned 410. */
export type Posted = { ok: true; status: number } | { ok: false; why: string; gone?: true };

const maxAnswer = 64 * 1024;

/** Never throws, follows no redirects, and discards the response body. */
export async function post({ url, headers, body }: Post, options: PostOptions): Promise<Posted> {
  const { allow, timeoutMs, lookup } = options;
  const problem = urlProblem(url, allow);
  if (problem !== undefined) return { ok: false, why: `The URL ${problem}` };
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return await new Promise<Posted>((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: guardedLookup(allow, lookup),
      signal,
      agent: false,
    });
    sent.on('error', (error) => {
      resolve({ ok: false, why: signal.aborted ? `No response within ${timeoutMs} ms` : error.message });
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
      resolve({ ok: false, why: `HTTP status ${status}`, ...(status === 410 ? { gone: true } : {}) });
    });
    sent.end(body);
  });
}
