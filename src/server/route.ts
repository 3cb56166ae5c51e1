import type * as z from 'zod';
import type { Engine } from '../engine/index.ts';
import type { Scope } from '../schema/index.ts';
import type { Backend } from './backend.ts';
import type { Principal } from './principal.ts';
import type { Streams } from './streams.ts';

/** What a handler is given: only what its schemas let through. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  principal: Principal;
  /** Of the principal's project. */
  engine: Engine;
  backend: Backend;
  streams: Streams;
  request: Request;
  /** Aborted when the client is gone or the server stops. */
  signal: AbortSignal;
  now: number;
  /** Of this server, as clients know it. */
  url: string;
}

/** An answer with another status or more headers than `200` and JSON. */
export interface Special {
  special: Response;
}

/** One row of the API: routes, documentation and the tests of isolation are all made of it. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** With `:name` for a parameter. */
  path: string;
  /** `any`: whoever has a token. */
  scope: Scope | 'any';
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodType;
  body?: z.ZodType;
  /** `text` and `events` are not JSON. */
  answer: z.ZodType | 'text' | 'events' | 'nothing';
  /** It waits: not counted as work in flight. */
  waits?: true;
  handle(call: Call<never, never, never>): Promise<unknown>;
}

interface Typed<P extends z.ZodObject, Q extends z.ZodType, B extends z.ZodType>
  extends Omit<Route, 'params' | 'query' | 'body' | 'handle'> {
  params?: P;
  query?: Q;
  body?: B;
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<unknown>;
}

/** Ties a handler to its own schemas. */
export const route = <
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
>(
  typed: Typed<P, Q, B>,
): Route =>
  // The table keeps rows of many kinds; each is called with what its own schemas gave.
  typed as unknown as Route;

export const special = (response: Response): Special => ({ special: response });
