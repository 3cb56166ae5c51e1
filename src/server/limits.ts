import { maxBodyBytes } from '../schema/index.ts';

/** What one server lets pass; everything that a stranger could make large has a bound here. */
export interface Limits {
  bodyBytes: number;
  /** Of arrays and objects in each other. */
  nesting: number;
  urlLength: number;
  /** Requests of one token. */
  perSecond: number;
  burst: number;
  /** Failed authentications of one address in a minute. */
  failuresPerMinute: number;
  /** Requests that are worked on at once, without streams and long polls. */
  inFlight: number;
  /** Event streams of one token, and of the server. */
  streamsPerToken: number;
  streams: number;
  /** What a reader of a stream may be behind before it is dropped. */
  streamBytes: number;
  heartbeatMs: number;
  /** About as long a stream lasts: whoever comes back shows its token again. */
  streamMs: number;
  /** Until a request must have arrived, head and body. */
  headersMs: number;
  requestMs: number;
  connections: number;
  /** How long it still answers when it stops, so that whoever sends requests here can learn of it. */
  lingerMs: number;
  /** Until what still runs is cut off when the server stops. */
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
