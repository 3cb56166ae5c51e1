import type { CriticalArtifact, Definition } from './definition.ts';
import { own } from './record.ts';
import type { State } from './state.ts';

/** All critical artifacts of a workflow, in its order. */
export function criticalArtifacts({ critical_artifacts }: Definition): CriticalArtifact[] {
  const { always_load = [], conditional_load = [] } = critical_artifacts ?? {};
  return [...always_load, ...conditional_load];
}

export interface DueArtifact {
  id: string;
  /** Why it is loaded now. */
  trigger: string;
}

/** What the session must be given now: by the triggers of the workflow, and not in its context since. */
export function dueArtifacts(definition: Definition, state: State, session: string): DueArtifact[] {
  return criticalArtifacts(definition).flatMap(({ id, reload_triggers = ['session_start'] }) => {
    const load = own(state.loads?.artifacts, id);
    const loaded = load?.session === session ? load.now : undefined;
    const trigger = reload_triggers.find((each) => fires(each, state, loaded));
    return trigger === undefined ? [] : [{ id, trigger }];
  });
}

/** `loaded`: when the session was last given it. */
function fires(trigger: string, { step, entered }: State, loaded: number | undefined): boolean {
  if (trigger === 'session_start') return loaded === undefined;
  if (loaded !== undefined && loaded >= (entered?.now ?? 0)) return false;
  const [kind, phases] = trigger.split(':', 2);
  if (kind === 'phase_start') return phases === step;
  if (kind !== 'phase_transition' || entered?.from === undefined) return false;
  return phases === undefined || phases === `${entered.from}->${step}`;
}
