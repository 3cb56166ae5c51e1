import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from './principal.ts';
import type { Span } from './tracing.ts';

/** The Node.js request and response, which `@hono/node-server` passes along. */
export interface NodeBindings {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
}

/** What the access log and the metrics record about a request. */
export interface RequestInfo {
  id: string;
  address: string;
  route: string;
  principal?: Principal;
  span: Span;
}

/** Of Hono's context. */
export interface Env {
  Bindings: NodeBindings;
  Variables: { info: RequestInfo };
}
