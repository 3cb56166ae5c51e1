import type { CallerIdentity, CallOptions } from '../runtime/index.ts';

/** Who calls, and how long the call may wait for gates. */
export interface Caller {
  who: CallerIdentity & { session: string };
  options: Pick<CallOptions, 'waitMs' | 'onProgress'>;
}
