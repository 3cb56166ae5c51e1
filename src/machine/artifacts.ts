import type { CriticalArtifact, Definition } from '../schema/index.ts';
import { own } from './own-property.ts';
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

/** Artifacts with a fired trigger that the session has not received since. */
export function dueArtifacts(definition: Definition, state: State, session: string): DueArtifact[] {
  const given = own(state.loads?.bySession, session);
  return criticalArtifacts(definition).flatMap((artifact) => {
    const entries = own(given, artifact.id)?.entries;
    const trigger = triggersOf(artifact).find((each) =>
      each === 'session_start'
        ? entries === undefined
        : (entries ?? 0) < (state.entered?.count ?? 0) && fires(each, state),
    );
    return trigger === undefined ? [] : [{ id: artifact.id, trigger }];
  });
}

/** Whether a trigger has fired. An artifact of a later phase may not exist yet, so it is not required before. */
export function wasTriggered(artifact: CriticalArtifact, { visits, entered }: State): boolean {
  const visited = (step: string | undefined): boolean =>
    Object.keys(visits).some((path) => path.split('/', 1)[0] === step);
  return triggersOf(artifact).some((trigger) => {
    const [kind, phases] = trigger.split(':', 2);
    if (kind === 'phase_start') return visited(phases);
    if (kind !== 'phase_transition') return true;
    return phases === undefined ? entered?.from !== undefined : visited(phases.split('->', 2)[1]);
  });
}

const triggersOf = ({ reload_triggers = ['session_start'] }: CriticalArtifact): string[] => reload_triggers;

function fires(trigger: string, { step, entered }: State): boolean {
  const [kind, phases] = trigger.split(':', 2);
  if (kind === 'phase_start') return phases === step;
  if (kind !== 'phase_transition' || entered?.from === undefined) return false;
  return phases === undefined || phases === `${entered.from}->${step}`;
}
