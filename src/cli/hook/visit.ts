import type { HookInput, Host, SessionKey } from '../../runtime/index.ts';
import type { Notebook } from './notebook.ts';
import type { Place } from './place.ts';

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
