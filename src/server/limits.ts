import { maxBodyBytes } from '../schema/index.ts';

/** Bounds for everything that a client controls the size of. */
export interface Limits {
  bodyBytes: number;
  /** Depth of nested arrays and objects. */
  nesting: number;
  urlLength: number;
  /** Requests per second of one token. */
  perSecond: number;
  burst: number;
  /** Failed authentications with one token id, before the answer says to wait. */
  failuresPerMinute: number;
  /** Concurrent requests, not counting streams and long polls. */
  inFlight: number;
  /** Open event streams of one token, and of the whole server. */
  streamsPerToken: number;
  streams: number;
  /** Unread bytes after which a stream reader is dropped. */
  streamBytes: number;
  heartbeatMs: number;
  /** Approximate lifetime of a stream. A reconnecting client is authenticated again. */
  streamMs: number;
  /** Time to receive the headers and the whole request. */
  headersMs: number;
  requestMs: number;
  connections: number;
  /** How long a stopping server keeps answering, so that load balancers notice. */
  lingerMs: number;
  /** Time for in-flight requests to finish on shutdown. */
  drainMs: number;
}

export const defaultLimits: Limits = {
  bodyBytes: maxBodyBytes,
  nesting: 64,
  urlLength: 4096,
  perSecond: 1000,
  burst: 2000,
  failuresPerMinute: 30,
  inFlight: 2000,
  streamsPerToken: 100,
  streams: 10_000,
  streamBytes: 1024 * 1024,
  heartbeatMs: 15_000,
  streamMs: 15 * 60_000,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 20_000,
  lingerMs: 1000,
  drainMs: 2500,
};
