import { StepfastError } from '../../errors.ts';
import type { Reply } from './reply.ts';
import { contextOf, type ModelRequest, type RequestKind } from './request.ts';

export interface LoggedRequest extends ModelRequest {
  /** The reply. */
  reply: Reply;
  /** Whether a rule of the script matched. */
  matched: boolean;
}

/** The model's requests, in order. */
export interface RequestLog {
  all(): readonly LoggedRequest[];
  requestsOf(kind: RequestKind): LoggedRequest[];
  /** The requests that contain the text, including tool results. */
  containing(marker: string | RegExp): LoggedRequest[];
  unmatched(): LoggedRequest[];
  ofSession(session: string): RequestLog;
  /** From this number on. */
  since(n: number): RequestLog;
  /** The first request of the main conversation after the last compaction, or after the one with this index. Throws if there is none. */
  firstRequestAfterCompaction(index?: number): LoggedRequest;
}

export function createRequestLog(requests: () => readonly LoggedRequest[]): RequestLog {
  const log: RequestLog = {
    all: requests,
    requestsOf: (kind) => requests().filter((request) => request.kind === kind),
    containing: (marker) => requests().filter((request) => stands(marker, contextOf(request))),
    unmatched: () => requests().filter(({ matched }) => !matched),
    ofSession: (session) => createRequestLog(() => requests().filter((one) => one.session === session)),
    since: (n) => createRequestLog(() => requests().filter((one) => one.n >= n)),
    firstRequestAfterCompaction: (index = -1) => {
      const compactions = log.requestsOf('summariser').filter(({ agent }) => agent === undefined);
      const compaction = compactions.at(index);
      const found =
        compaction &&
        requests().find(
          ({ n, kind, session }) => n > compaction.n && kind === 'main' && session === compaction.session,
        );
      if (found) return found;
      throw new StepfastError(
        'no_request',
        compaction
          ? `The main conversation asked nothing after the compaction with request ${compaction.n}.`
          : `There is no compaction ${index}: the summariser was asked ${compactions.length} times.`,
      );
    },
  };
  return log;
}

function stands(marker: string | RegExp, text: string): boolean {
  return typeof marker === 'string' ? text.includes(marker) : marker.test(text);
}
