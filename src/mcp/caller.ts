import type { CallOptions, Who } from '../runtime/index.ts';

/** The caller, and how long the call may wait for gates. */
export interface Caller {
  who: Who & { session: string };
  options: Pick<CallOptions, 'waitMs' | 'onProgress'>;
}
