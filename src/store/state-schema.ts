import * as z from 'zod';

const time = z.iso.datetime();
const count = z.int().min(0);

const phase = z
  .strictObject({
    current: z.int().min(1).describe('The number of the phase, from 1.'),
    total: z.int().min(1).describe('How many phases there are.'),
    name: z.string().describe('The name of the phase.'),
    status: z
      .enum(['not_started', 'in_progress', 'completed', 'skipped', 'blocked'])
      .describe('The progress of the phase.'),
  })
  .describe('The phase that the run is in.');

const eachPhase = phase
  .omit({ total: true })
  .describe('A phase of the run; not_started before the run reaches it.');

const session = z
  .strictObject({
    session_id: z.string().describe('The id that the host gave the session.'),
    started_at: time.describe('When the session joined the run.'),
    ended_at: time.describe('When it ended; absent while it is active.').exactOptional(),
    phases_completed: z.array(z.string()).describe('Phases that were completed in this session.'),
    environment: z
      .record(z.string(), z.string())
      .describe('Where it ran: hostname, platform, cwd, git_commit and the like.'),
  })
  .describe('A session that worked on the run.');

const artifactInContext = z
  .strictObject({
    artifact_id: z.string().describe('The id of the critical artifact.'),
    loaded_at: time.describe('When it was loaded.'),
    load_trigger: z.string().describe('Why it was loaded: one of the triggers of critical artifacts.'),
  })
  .describe('An artifact that the agent has in context.');

/** The schema of `state.json`. Run-time code imports only its types, so that zod is not loaded. */
export const stateFileSchema = z.strictObject({
  run_id: z.string().describe('The id of the run.'),
  workflow_id: z.string().describe('The name that starts the workflow.'),
  workflow: z.string().describe('The display name of the workflow, with the summary of the run.'),
  workflow_type: z
    .enum(['planning', 'qa-loop', 'implementation', 'custom'])
    .describe('The kind of work, as the workflow says.'),
  status: z
    .enum(['in_progress', 'waiting', 'completed', 'failed', 'cancelled'])
    .describe('The status of the run.'),
  phase,
  phases: z.array(eachPhase).describe('All phases, in order.').exactOptional(),
  required_reading: z.array(z.string().regex(/^@/)).describe('Files that an agent must read, each with @.'),
  context: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe('Context variables: from the workflow, the inputs, and the notes of the run.'),
  key_reminders: z.array(z.string()).describe('Rules that must survive a compaction.'),
  created_at: time.describe('When the run started; never updated.'),
  updated_at: time.describe('When the run last changed.'),
  sessions: z
    .strictObject({
      current_session_id: z.string().nullable().describe('The newest session that has not ended.'),
      session_history: z.array(session).describe('All sessions, in start order.'),
    })
    .describe('The sessions of the run.'),
  context_metadata: z
    .strictObject({
      last_artifact_reload: time
        .nullable()
        .describe('When critical artifacts were last loaded for an agent.'),
      reload_count: count.describe('How often critical artifacts were loaded for an agent.'),
      artifacts_in_context: z.array(artifactInContext).describe('What was loaded, when and why.'),
    })
    .describe('Critical artifacts given to agents.'),
  artifacts: z
    .record(z.string(), z.string())
    .describe('Paths that the run recorded by name, for path_from_state.'),
  snapshot: z
    .looseObject({
      v: z.int().describe('The version of this part.'),
      seq: count.describe('The last batch that the snapshot includes.'),
      hash: z.string().describe('The checksum of its line.'),
      offset: count.describe('The offset of its line in the journal.'),
    })
    .describe('The starting point of a load instead of the whole journal. Not for other programs.'),
  sum: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('A checksum: a file edited by hand is ignored and rewritten.'),
});

/** The part of `state.json` for people and tools. */
export type StateProjection = Omit<z.infer<typeof stateFileSchema>, 'snapshot' | 'sum'>;

/** JSON Schema draft-07 of `state.json`. */
export function stateJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(stateFileSchema, { target: 'draft-07' });
  return { $schema, title: 'Stepfast state', ...rest };
}
