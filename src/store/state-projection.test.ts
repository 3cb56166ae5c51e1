import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { action, Run, workflow } from '../../test/kit/run.ts';
import { memory, randomCommand } from '../../test/properties/commands.ts';
import { Dice } from '../../test/properties/dice.ts';
import { adoptedDefinition, type Definition, respond, type State } from '../machine/index.ts';
import { projectState } from './state-projection.ts';
import { stateFileSchema, stateJsonSchema } from './state-schema.ts';

const published = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'schema', 'state.schema.json'), 'utf8'),
);
const file = z.fromJSONSchema(published);
const people = stateFileSchema.omit({ snapshot: true, sum: true });
const rest = { snapshot: { v: 1, seq: 1, hash: 'x', offset: 0 }, sum: '0'.repeat(32) };

const definition = workflow([action('frame'), action('architect'), action('build')], {
  name: 'feature',
  type: 'implementation',
  required_reading: ['@CLAUDE/PlanWorkflow.md'],
  key_reminders: ['Follow existing auth patterns'],
  variables: { plan_number: 1, feature_name: 'user-auth' },
  critical_artifacts: { always_load: [{ id: 'spec', type: 'markdown', path: 'docs/spec.md' }] },
});

test('[004/9] the published state.schema.json is current, is draft-07 and describes every key', () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(stateJsonSchema())));
  expect(published.$schema).toBe('http://json-schema.org/draft-07/schema#');
  for (const [name, property] of Object.entries<{ description?: string }>(published.properties))
    expect([name, property.description]).toEqual([name, expect.any(String)]);
});

test('[002/2] the state file has every field of the table, with its type', () => {
  const run = new Run(definition);
  run.advance();
  const projected = projectState(definition, run.state);
  expect(projected).toMatchObject({
    workflow: 'feature',
    workflow_type: 'implementation',
    phase: { current: 2, total: 3, name: 'architect', status: 'in_progress' },
    required_reading: ['@CLAUDE/PlanWorkflow.md'],
    context: { plan_number: 1, feature_name: 'user-auth' },
    key_reminders: ['Follow existing auth patterns'],
    created_at: new Date(run.state.createdAt).toISOString(),
  });
  expect(people.safeParse(projected).error).toBeUndefined();
  expect(file.safeParse({ ...projected, ...rest }).error).toBeUndefined();
});

test('[002/2] created_at is preserved by every update', () => {
  const run = new Run(definition);
  const { created_at } = projectState(definition, run.state);
  for (let step = 0; step < 3; step += 1) {
    run.now += 60_000;
    run.advance();
    const projected = projectState(definition, run.state);
    expect(projected.created_at).toBe(created_at);
    expect(projected.updated_at).toBe(new Date(run.now).toISOString());
  }
  const { status, phase } = projectState(definition, run.state);
  expect({ status, phase }).toMatchObject({
    status: 'completed',
    phase: { current: 3, status: 'completed' },
  });
});

test('[002/5] variables, reminders and reading added during the run are in the state file', () => {
  const run = new Run(definition);
  run.send({ type: 'note', kind: 'variable', key: 'page', text: 'home' });
  run.send({ type: 'note', kind: 'variable', key: 'plan_number', text: '2' });
  run.send({ type: 'note', kind: 'reminder', text: 'Run integration tests' });
  run.send({ type: 'note', kind: 'reading', key: 'guide', text: '@docs/guide.md' });
  run.send({ type: 'note', kind: 'reading', key: 'issue', text: 'read' });
  run.send({ type: 'note', kind: 'artefact', key: 'spec_path', text: '{project_root}/specs/1.md' });
  expect(projectState(definition, run.state)).toMatchObject({
    required_reading: ['@CLAUDE/PlanWorkflow.md', '@docs/guide.md'],
    context: { plan_number: '2', feature_name: 'user-auth', page: 'home' },
    key_reminders: ['Follow existing auth patterns', 'Run integration tests'],
    artifacts: { spec_path: '{project_root}/specs/1.md' },
  });
});

test('[004/4] the history has the sessions of two machines with their completed phases', () => {
  const run = new Run(definition, { session: 'A' });
  const one = { hostname: 'dev-machine-1', platform: 'linux', cwd: '/home/user/p', git_commit: 'a1b2c3d4' };
  run.send({ type: 'session', session: 'A', event: { type: 'started', environment: one } });
  run.advance('done', { session: 'A' });
  run.now += 1000;
  run.send({ type: 'session', session: 'A', event: { type: 'ended' } });
  run.send({ type: 'session', session: 'B', event: { type: 'started', environment: { hostname: 'two' } } });
  run.send({ type: 'session', session: 'B', event: { type: 'delivered', briefing: 'b1', proven: 'handle' } });
  const loaded = { trigger: 'session_start', artifacts: [{ id: 'spec', hash: 'h' }, { id: 'unknown' }] };
  run.send({ type: 'loaded', ...loaded, session: 'B' });
  const { sessions, context_metadata, status } = projectState(definition, run.state);
  expect(status).toBe('in_progress');
  expect(sessions.current_session_id).toBe('B');
  expect(sessions.session_history).toMatchObject([
    { session_id: 'A', phases_completed: ['frame'], environment: one, ended_at: expect.any(String) },
    { session_id: 'B', phases_completed: [], environment: { hostname: 'two' } },
  ]);
  const now = new Date(run.now).toISOString();
  expect(context_metadata).toEqual({
    last_artifact_reload: now,
    reload_count: 1,
    artifacts_in_context: [{ artifact_id: 'spec', loaded_at: now, load_trigger: 'session_start' }],
  });
  run.send({ type: 'boundary', by: 'hook', saw: 'compact', session: 'B' });
  expect(projectState(definition, run.state).context_metadata).toMatchObject({
    last_artifact_reload: now,
    reload_count: 1,
    artifacts_in_context: [],
  });
});

test('an adopted workflow shows the phase of its own file', () => {
  const adopted = {
    source: 'CLAUDE.local.md',
    phase: { current: 4, total: 10, name: 'SEO Generation' },
    reading: ['@CLAUDE/PageOrchestration.md'],
  };
  const own = adoptedDefinition('Page Orchestration - Case Studies', adopted);
  const { state } = respond(own, null, { type: 'adopt', now: 1, run: 'page-1-abcd', adopted });
  expect(projectState(own, state ?? expect.fail('a state'))).toMatchObject({
    workflow: 'page-orchestration-case-studies',
    phase: { current: 4, total: 10, name: 'SEO Generation', status: 'in_progress' },
    required_reading: ['@CLAUDE/PageOrchestration.md'],
  });
});

test('[002/1] M5: an adopted workflow has all phases of its file, from completed to not_started', () => {
  const adopted = { source: 'CLAUDE.local.md', phase: { current: 2, total: 3, name: 'SEO Generation' } };
  const own = adoptedDefinition('Pages', adopted);
  const { state } = respond(own, null, { type: 'adopt', now: 1, run: 'page-1-abcd', adopted });
  expect(projectState(own, state ?? expect.fail('a state')).phases).toEqual([
    { current: 1, name: 'Phase 1', status: 'completed' },
    { current: 2, name: 'SEO Generation', status: 'in_progress' },
    { current: 3, name: 'Phase 3', status: 'not_started' },
  ]);
});

test('[004/9] the state file always fits the schema', () => {
  const workflows: Definition[] = JSON.parse(
    readFileSync(new URL('../machine/fixtures/v1/workflows.json', import.meta.url), 'utf8'),
  );
  let projected = 0;
  for (const [seed, each] of workflows.entries()) {
    const dice = new Dice(seed);
    const remembered = memory();
    const start = { type: 'start' as const, now: remembered.now, run: 'golden-1-abcd', session: 'A' };
    let state: State | null = respond(each, null, start).state;
    for (let played = 0; played < 20 && state; played += 1) {
      state = respond(each, state, randomCommand(each, state, dice, remembered)).state;
      if (!state) break;
      expect(people.safeParse(projectState(each, state)).error).toBeUndefined();
      projected += 1;
    }
  }
  expect(projected).toBeGreaterThan(100);
});
