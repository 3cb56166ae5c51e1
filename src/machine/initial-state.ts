import type { Definition, EventOf } from '../schema/index.ts';
import { nothingSpent } from './budget-use.ts';
import type { State } from './state.ts';

export function initialState(definition: Definition, event: EventOf<'run.started'>): State {
  const { type: _, now, ...given } = event;
  return {
    version: 1,
    ...given,
    status: 'running',
    createdAt: now,
    updatedAt: now,
    step: definition.steps[0]?.id ?? '',
    cursors: {},
    visits: {},
    tasks: {},
    outputs: {},
    budget: nothingSpent,
    pivots: [],
    questions: [],
    notes: [],
    noteCount: 0,
    variables: {},
    artifacts: {},
    artefacts: [],
    reading: {},
    sessions: {},
    boundaryCount: 0,
    briefings: {},
  };
}
