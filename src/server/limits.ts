import { maxBodyBytes } from '../schema/index.ts';

const megabyte = 2 ** 20;

/** What a call takes up while it lasts. */
export type Share = 'requests' | 'waits' | 'streams';

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
  /** Requests that begin in one turn of the event loop; the others begin in the next. */
  perTurn: number;
  /** Concurrent requests, not counting streams and long polls. */
  inFlight: number;
  /** Agents that use one token, unless it says how many. */
  agents: number;
  /** Requests in flight, long polls and event streams at a time, of each for each agent of a token. */
  perAgent: number;
  /** The same for all tokens of a project. */
  perProject: Readonly<Record<Share, number>>;
  /** Requests that are worked on at a time for each project; the others wait. Fewer than the database has connections. */
  atOncePerProject: number;
  /** Of them, those that may take long. */
  heavyPerProject: number;
  /** Answers and events that are written but not read, after which calls are refused and streams wait. */
  unreadBytes: { token: number; project: number };
  /** Event streams of the whole server. */
  streams: number;
  /** Unread bytes after which a stream waits for its reader. */
  streamBytes: number;
  /** A client that reads nothing for so long is disconnected, later if it has more to read (bytes per second). */
  stallMs: number;
  slowestReader: number;
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
  perTurn: 64,
  inFlight: 2000,
  agents: 16,
  perAgent: 8,
  perProject: { requests: 500, waits: 5000, streams: 2500 },
  atOncePerProject: 12,
  heavyPerProject: 1,
  unreadBytes: { token: 16 * megabyte, project: 64 * megabyte },
  streams: 10_000,
  streamBytes: 256 * 1024,
  stallMs: 30_000,
  slowestReader: 128 * 1024,
  heartbeatMs: 15_000,
  streamMs: 15 * 60_000,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 20_000,
  lingerMs: 1000,
  drainMs: 2500,
};
