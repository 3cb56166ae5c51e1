import type { HookInput, Host, SessionKey } from '../runtime/index.ts';
import type { HookContext } from './hook-context.ts';
import type { SessionRecord } from './session-record.ts';

/** One event of one session, with everything that a handler needs. */
export interface HookEvent {
  host: Host;
  input: HookInput;
  key: SessionKey;
  /** The session's name in the run. */
  session: string;
  context: HookContext;
  record: SessionRecord;
}
