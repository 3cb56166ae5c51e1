import type { CallerIdentity, CallOptions } from '../runtime/index.ts';

/** The caller, and how long the call may wait for gates. */
export interface Caller {
  who: CallerIdentity & { session: string };
  options: Pick<CallOptions, 'waitMs' | 'onProgress'>;
}
