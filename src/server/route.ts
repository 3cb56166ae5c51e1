import type * as z from 'zod';
import type { Engine } from '../engine/index.ts';
import type { PageSource } from '../runtime/index.ts';
import type { Scope } from '../schema/index.ts';
import type { Audit } from './audit.ts';
import type { Backend } from './backend.ts';
import type { People } from './people.ts';
import type { Principal } from './principal.ts';
import type { Streams } from './streams.ts';

/** What every handler gets. */
export interface Common {
  principal: Principal;
  /** The engine of the principal's project. */
  engine: Engine;
  request: Request;
  /** Aborted when the client disconnects or the server stops. */
  signal: AbortSignal;
  now: number;
  /** The public URL of this server. */
  url: string;
  /** Only the team server has one. */
  audit?: Audit;
}

/** What the dashboard needs. */
export interface PageServices extends Common {
  /** The pages of the principal's project. */
  pages: PageSource;
}

/** What the team server has. */
export interface Services extends PageServices {
  backend: Backend;
  people: People;
  streams: Streams;
}

/** The validated input of a handler. */
export type Call<P, Q, B, S extends Common = Services> = S & { params: P; query: Q; body: B };

/** A response other than status 200 with JSON. */
export interface RawResponse {
  response: Response;
}

/** One API route: the router, the OpenAPI document and the isolation tests all use it. */
export interface Route<S extends Common = Services> {
  method: 'GET' | 'POST' | 'DELETE';
  /** `:name` marks a parameter. */
  path: string;
  /** `any`: every valid token. */
  scope: Scope | 'any';
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodType;
  body?: z.ZodType;
  /** `text` and `events` are not JSON. */
  answer: z.ZodType | 'text' | 'events' | 'nothing';
  /** Long polls and streams are not counted as in flight. */
  waits?: true;
  /** May take long for a large run or workflow, so only a few run at a time for each project. */
  heavy?: true;
  handle(call: Call<never, never, never, S>): Promise<unknown>;
}

interface TypedRoute<P extends z.ZodObject, Q extends z.ZodType, B extends z.ZodType, S extends Common>
  extends Omit<Route<S>, 'params' | 'query' | 'body' | 'handle'> {
  params?: P;
  query?: Q;
  body?: B;
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>, S>): Promise<unknown>;
}

/** Infers the handler's input from its schemas. */
const routeWith =
  <S extends Common>() =>
  <P extends z.ZodObject = z.ZodObject, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType>(
    typed: TypedRoute<P, Q, B, S>,
  ): Route<S> =>
    // The table mixes routes with different input types; each gets input that its own schemas validated.
    typed as unknown as Route<S>;

export const route = routeWith<Services>();
/** For both servers. */
export const commonRoute = routeWith<Common>();
export const pageRoute = routeWith<PageServices>();

export const rawResponse = (response: Response): RawResponse => ({ response });
