import { isPayload, numberIn, type Payload, partIn, textIn } from '../payload.ts';
import type { HostProcess } from '../process.ts';
import { parseRecord } from '../transcript-record.ts';

/** JSON-RPC over the lines of a process. */
export interface Connection {
  /** Rejects with an `RpcFailure`, and never if the process ends first. */
  request(method: string, params: object): Promise<Payload>;
  notify(method: string, params: object): void;
}

export interface Peer {
  /** The result; undefined for a method that this client does not offer. */
  onRequest(method: string, params: Payload): object | undefined;
  onNotification(method: string, params: Payload): void;
  /** Any line, before it is read. */
  onLine(): void;
}

/** The error in an answer. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor({ code, message, data }: Payload) {
    const detail = isPayload(data) ? textIn(data, 'details') : typeof data === 'string' ? data : undefined;
    super([typeof message === 'string' ? message : 'Unknown error', detail].filter(Boolean).join(': '));
    this.code = typeof code === 'number' ? code : 0;
  }
}

const noSuchMethod = -32_601;

export function connect(host: HostProcess, peer: Peer): Connection {
  const open = new Map<number, { resolve(result: Payload): void; reject(error: RpcFailure): void }>();
  let last = 0;

  const answer = (line: Payload, method: string): void => {
    const result = peer.onRequest(method, partIn(line, 'params') ?? {});
    const error = { code: noSuchMethod, message: `Method not found: ${method}` };
    host.write({ jsonrpc: '2.0', id: line.id, ...(result === undefined ? { error } : { result }) });
  };

  host.onLine((text) => {
    peer.onLine();
    // What is no message was printed by a program of the person.
    const line = parseRecord(text);
    if (!line) return;
    const method = textIn(line, 'method');
    if (method !== undefined && line.id !== undefined) return answer(line, method);
    if (method !== undefined) return peer.onNotification(method, partIn(line, 'params') ?? {});
    const id = numberIn(line, 'id') ?? -1;
    const error = partIn(line, 'error');
    const waiting = open.get(id);
    open.delete(id);
    if (error) waiting?.reject(new RpcFailure(error));
    else waiting?.resolve(partIn(line, 'result') ?? {});
  });

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        last += 1;
        open.set(last, { resolve, reject });
        host.write({ jsonrpc: '2.0', id: last, method, params });
      }),
    notify: (method, params) => host.write({ jsonrpc: '2.0', method, params }),
  };
}
