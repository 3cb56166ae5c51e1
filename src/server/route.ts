import type * as z from 'zod';
import type { Engine } from '../engine/index.ts';
import type { Scope } from '../schema/index.ts';
import type { Backend } from './backend.ts';
import type { Principal } from './principal.ts';
import type { Streams } from './streams.ts';

/** The validated input of a handler. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  principal: Principal;
  /** The engine of the principal's project. */
  engine: Engine;
  backend: Backend;
  streams: Streams;
  request: Request;
  /** Aborted when the client disconnects or the server stops. */
  signal: AbortSignal;
  now: number;
  /** The public URL of this server. */
  url: string;
}

/** A response other than status 200 with JSON. */
export interface RawResponse {
  response: Response;
}

/** One API route: the router, the OpenAPI document and the isolation tests all use it. */
export interface Route {
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
  handle(call: Call<never, never, never>): Promise<unknown>;
}

interface TypedRoute<P extends z.ZodObject, Q extends z.ZodType, B extends z.ZodType>
  extends Omit<Route, 'params' | 'query' | 'body' | 'handle'> {
  params?: P;
  query?: Q;
  body?: B;
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<unknown>;
}

/** Infers the handler's input from its schemas. */
export const route = <
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
>(
  typed: TypedRoute<P, Q, B>,
): Route =>
  // The table mixes routes with different input types; each gets input that its own schemas validated.
  typed as unknown as Route;

export const rawResponse = (response: Response): RawResponse => ({ response });
