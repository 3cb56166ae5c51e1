import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  body: string;
}

/** A minimal HTTP/1.1 keep-alive client, because clients share the cores with the servers under test. */
export interface Connection {
  /** One at a time, with a token of its own or the connection's. Rejects where the connection breaks; the next call opens another. */
  call(method: string, path: string, body?: string, token?: string): Promise<HttpAnswer>;
  close(): void;
}

interface Waiting {
  resolve(answer: HttpAnswer): void;
  reject(error: Error): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = Buffer.from('\r\n');

export function openConnection({
  port,
  token: own = '',
  host = '127.0.0.1',
}: {
  port: number;
  token?: string;
  host?: string;
}): Connection {
  const always = `Host: ${host}:${port}\r\nAccept: application/json\r\n`;
  let socket: Socket | undefined;
  let waiting: Waiting | undefined;
  let bytes: Buffer = Buffer.alloc(0);

  return { call, close: () => socket?.destroy() };

  function call(method: string, path: string, body?: string, token = own): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (waiting) throw new Error('a connection supports one call at a time');
      waiting = { resolve, reject };
      socket ??= open();
      const content =
        body === undefined
          ? ''
          : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      const bearer = `Authorization: Bearer ${token}\r\n`;
      socket.write(`${method} ${path} HTTP/1.1\r\n${always}${bearer}${content}\r\n${body ?? ''}`);
    });
  }

  function open(): Socket {
    const opened = connect({ port, host, noDelay: true });
    opened.on('data', (chunk) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const read = readAnswer(bytes);
      if (!read) return;
      bytes = bytes.subarray(read.length);
      if (read.closes) forget(opened);
      settle()?.resolve(read.answer);
    });
    opened.on('error', (error) => {
      forget(opened);
      settle()?.reject(error);
    });
    opened.on('close', () => {
      forget(opened);
      settle()?.reject(new Error('the connection was closed before the answer'));
    });
    return opened;
  }

  function forget(gone: Socket): void {
    if (socket !== gone) return;
    socket = undefined;
    bytes = Buffer.alloc(0);
    gone.destroy();
  }

  function settle(): Waiting | undefined {
    const found = waiting;
    waiting = undefined;
    return found;
  }
}

interface Read {
  answer: HttpAnswer;
  /** Bytes that it took. */
  length: number;
  closes: boolean;
}

/** Returns undefined while the response is incomplete. */
function readAnswer(bytes: Buffer): Read | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end).toLowerCase();
  const status = Number(head.slice(9, 12));
  const start = end + headEnd.length;
  const closes = head.includes('\r\nconnection: close');
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const stop = start + Number(length);
    if (bytes.length < stop) return undefined;
    return { answer: { status, body: bytes.toString('utf8', start, stop) }, length: stop, closes };
  }
  if (!head.includes('\r\ntransfer-encoding: chunked'))
    return { answer: { status, body: '' }, length: start, closes };
  return readChunks(bytes, start, status, closes);
}

function readChunks(bytes: Buffer, start: number, status: number, closes: boolean): Read | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf(lineEnd, at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const from = line + lineEnd.length;
    const next = from + size + lineEnd.length;
    if (bytes.length < next) return undefined;
    if (size === 0)
      return { answer: { status, body: Buffer.concat(parts).toString('utf8') }, length: next, closes };
    parts.push(bytes.subarray(from, from + size));
    at = next;
  }
}
