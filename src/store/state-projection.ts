import {
  type Definition,
  keyReminders,
  ownVariables,
  phaseOf,
  phasesOf,
  requiredReading,
  type State,
} from '../machine/index.ts';
import type { StateProjection } from './state-schema.ts';

const statuses = {
  running: 'in_progress',
  waiting: 'waiting',
  complete: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<State['status'], StateProjection['status']>;

/** The readable part of `state.json`: combines the state formats of seeds 002 and 004. */
export function projectState(definition: Definition, state: State): StateProjection {
  const { summary } = state;
  return {
    run_id: state.run,
    workflow_id: state.workflow,
    workflow: summary === undefined || summary === '' ? state.workflow : `${state.workflow} (${summary})`,
    workflow_type: definition.type ?? 'custom',
    status: statuses[state.status],
    phase: phaseOf(definition, state),
    phases: phasesOf(definition, state),
    required_reading: requiredReading(definition, state),
    context: { ...definition.variables, ...state.inputs, ...ownVariables(state) },
    key_reminders: keyReminders(definition, state),
    created_at: time(state.createdAt),
    updated_at: time(state.updatedAt),
    sessions: projectSessions(state),
    context_metadata: projectContext(state),
    artifacts: state.artifacts,
  };
}

function projectSessions(state: State): StateProjection['sessions'] {
  const sessions = Object.entries(state.sessions).sort(([, a], [, b]) => a.startedAt - b.startedAt);
  const current = sessions.findLast(([, session]) => session.endedAt === undefined);
  return {
    current_session_id: current?.[0] ?? null,
    session_history: sessions.map(([id, session]) => ({
      session_id: id,
      started_at: time(session.startedAt),
      ...(session.endedAt === undefined ? {} : { ended_at: time(session.endedAt) }),
      phases_completed: session.completed,
      environment: session.environment ?? {},
    })),
  };
}

/** Artifacts in the context of any session; the newest load wins. */
function projectContext({ loads }: State): StateProjection['context_metadata'] {
  const shown = Object.values(loads?.bySession ?? {})
    .flatMap((each) => Object.entries(each))
    .filter(([, { hash }]) => hash !== undefined)
    .sort(([, one], [, other]) => one.now - other.now);
  return {
    last_artifact_reload: loads ? time(loads.now) : null,
    reload_count: loads?.count ?? 0,
    artifacts_in_context: [...new Map(shown)].map(([id, { now, trigger }]) => ({
      artifact_id: id,
      loaded_at: time(now),
      load_trigger: trigger,
    })),
  };
}

const time = (ms: number): string => new Date(ms).toISOString();
