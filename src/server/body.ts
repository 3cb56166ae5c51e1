import type { IncomingMessage } from 'node:http';
import { exceedsDepth } from './json-depth.ts';
import type { Limits } from './limits.ts';
import { problem } from './problem.ts';

/** Reads a JSON body within the limits. Throws a problem. */
export async function readJsonText(
  request: Request,
  { bodyBytes, nesting }: Limits,
  incoming?: IncomingMessage,
): Promise<string> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw problem('not_json', 'The body must be application/json.', {
      next: 'send it with Content-Type: application/json',
    });
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > bodyBytes) throw tooLarge(bodyBytes);
  const text = await (incoming ? readIncoming(incoming, bodyBytes) : readText(request, bodyBytes));
  if (exceedsDepth(text, nesting))
    throw problem('bad_request', `The body is nested more than ${nesting} levels deep.`, {
      next: 'flatten it',
    });
  return text;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('bad_request', 'The body is not valid JSON.', { next: 'fix the JSON' });
  }
}

/** Bypasses the web stream of the request, which costs as much as the rest of a call. */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // A client that disconnected during authentication emits no more events.
    if (incoming.destroyed) return reject(lost());
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength;
      if (size <= maxBytes) chunks.push(chunk);
      else stop(() => reject(tooLarge(maxBytes)));
    };
    const onEnd = (): void => stop(() => resolve(Buffer.concat(chunks).toString('utf8')));
    const onLost = (): void => stop(() => reject(lost()));
    const stop = (then: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      incoming.pause();
      then();
    };
    incoming.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
  });
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((): never => {
      throw lost();
    });
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const lost = () => problem('bad_request', 'The body is incomplete.', { next: 'send it again' });

const tooLarge = (maxBytes: number) =>
  problem('too_large', `The body is larger than ${maxBytes} bytes.`, {
    next: 'write long text to a file and reference the file',
    // The rest of the body is not read.
    headers: { Connection: 'close' },
  });
