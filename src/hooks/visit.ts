import type { HookInput, Host, SessionKey } from '../runtime/index.ts';
import type { Place } from './place.ts';
import type { Notebook } from './session-record.ts';

/** One event that one host told of one session. */
export interface Visit {
  host: Host;
  input: HookInput;
  key: SessionKey;
  /** As the run knows the session. */
  session: string;
  place: Place;
  notebook: Notebook;
}
