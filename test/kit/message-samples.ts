import type { Action, Claim } from '../../src/machine/index.ts';
import type { Refused } from '../../src/messages/index.ts';

const at = 'k3f9x2ab:build/t1/code#2';
const run = 'feature-20261116-k3f9x2ab';
const claim: Claim = {
  do: 'claim',
  run,
  step: 'build',
  ready: [],
  own: [],
  held: 0,
  limit: 2,
  open: [],
  decisions: [],
};

/** Every kind of action, each in all its forms. */
export const actionSamples: Action[] = [
  { do: 'work', at, step: 'build', finish: 'advance' },
  { do: 'work', at: 'k3f9x2ab:build#1', step: 'build', finish: 'set_tasks' },
  {
    do: 'work',
    at,
    step: 'build',
    finish: 'advance',
    delegate: { agent: 'critic', description: 'Looks for mistakes', cannot: ['Write', 'Edit'] },
  },
  { do: 'work', at, step: 'build', finish: 'advance', delegate: { agent: 'critic', cannot: [] } },
  {
    do: 'work',
    at,
    step: 'build',
    finish: 'advance',
    delegate: { agent: 'critic', tools: ['Read', 'Bash(git *)'], cannot: [] },
  },
  { do: 'fix', at, gates: [{ what: 'npm test', exit: 1 }] },
  { do: 'fix', at, gates: [{ what: 'npm test', exit: 1 }, { what: 'PLAN.md' }] },
  { do: 'fix', at, gates: [{ what: 'npm test (expected to fail)', exit: 0, expect: 'fail' }] },
  { do: 'fix', at, gates: [{ what: 'npm test', exit: 1, before: 'fail' }] },
  { do: 'fix', at, gates: [{ what: 'npm test', exit: 1, before: 'pass' }] },
  { do: 'fix', at, gates: [], changed: ['dist/a.js'] },
  { do: 'reset_context', at, context: 'clear', required: false },
  { do: 'reset_context', at, context: 'compact', required: true, agent: 'critic' },
  { do: 'reset_context', at, context: 'clear', required: false, elsewhere: true },
  { do: 'wait', for: 'gates', at },
  { do: 'wait', for: 'gates', before: true, at },
  { do: 'wait', for: 'review', by: 'person', at },
  { do: 'wait', for: 'review', by: 'person', at, leaves: 'build' },
  { do: 'wait', for: 'review', by: 'person', at, exhausted: 'polish' },
  { do: 'wait', for: 'review', by: { agent: 'critic' }, at },
  { do: 'wait', for: 'review', by: { agent: 'critic' }, at, ownWork: true },
  { do: 'wait', for: 'review', by: { agent: 'critic' }, at, ownWork: true, witnessed: true },
  { do: 'wait', for: 'answer', at },
  { do: 'wait', for: 'budget', unit: 'turns', at },
  { do: 'wait', for: 'budget', unit: 'cost', of: 'run', at },
  { do: 'wait', for: 'decision', step: 'build', at },
  { do: 'wait', for: 'decision', step: 'build' },
  { ...claim, ready: ['t1', 't2'] },
  { ...claim, ready: ['t3'], own: [at], held: 1 },
  {
    ...claim,
    ready: [],
    held: 2,
    open: [
      { task: 't1', state: { is: 'held', by: 'mcp-1' } },
      { task: 't2', state: { is: 'started' } },
      { task: 't3', state: { is: 'depends', on: ['t1'] } },
    ],
  },
  {
    ...claim,
    ready: [],
    held: 1,
    open: [{ task: 't1', state: { is: 'review', by: 'human' } }],
    decisions: [{ task: 't1', at, kind: 'review' }],
  },
  {
    ...claim,
    ready: [],
    open: [{ task: 't1', state: { is: 'question' } }],
    decisions: [{ task: 't1', kind: 'question' }],
  },
  {
    ...claim,
    ready: [],
    open: [{ task: 't1', state: { is: 'blocked' } }],
    decisions: [{ task: 't1', kind: 'blocked' }],
  },
  { do: 'nothing', because: 'complete', run },
  { do: 'nothing', because: 'failed', run },
  { do: 'nothing', because: 'cancelled', run },
  { do: 'ask_status' },
  { do: 'continue', at: [at] },
];

type Params<C extends Refused['code']> = Extract<Refused, { code: C }>['params'];

/** The parameters of every refusal, each in all its forms. */
const paramSamples: { [C in Refused['code']]: Params<C>[] } = {
  not_started: [{}],
  run_ended: [
    { run, status: 'complete' },
    { run, status: 'cancelled' },
  ],
  bad_handle: [{ given: 'step-2' }],
  wrong_run: [{ at: 'zzzzzzzz:build#1', run }],
  stale_handle: [{ at }, { at, was: 'advanced' }, { at, was: 'failed' }],
  at_required: [
    { open: 2, waiting: false, handles: [] },
    { open: 2, waiting: true, handles: [at] },
  ],
  claim_required: [{ step: 'build' }],
  not_briefed: [{ at }, { at, context: 'clear' }],
  boundary_open: [
    { at, context: 'clear' },
    { at, context: 'clear', driven: true },
  ],
  checking: [{ at }],
  stale_gates: [{ id: `${at}!1` }, { run, status: 'cancelled' }],
  needs_tasks: [{ step: 'build' }],
  unknown_loop: [
    { given: 'test', loops: ['build', 'polish'] },
    { given: 'test', loops: [] },
  ],
  bad_tasks: [
    { step: 'build', problem: { is: 'loop_over' } },
    { step: 'build', problem: { is: 'all_ended' } },
    { step: 'build', problem: { is: 'nothing_left' } },
    { step: 'build', problem: { is: 'too_many', count: 5001, limit: 5000 } },
    { step: 'build', problem: { is: 'bad_id', task: 'a b' } },
    { step: 'build', problem: { is: 'no_title', task: 't1' } },
    { step: 'build', problem: { is: 'duplicate', task: 't1' } },
    { step: 'build', problem: { is: 'unknown_dependency', task: 't1', on: 't9' } },
    { step: 'build', problem: { is: 'lost_dependency', task: 't1', on: 't2', end: 'skipped' } },
    { step: 'build', problem: { is: 'circle', tasks: ['t1', 't2', 't1'] } },
  ],
  task_left_out: [{ tasks: [{ id: 't2', title: 'Parse the header' }], more: 3 }],
  no_task: [
    { step: 'build', why: 'not_claimable' },
    { step: 'build', why: 'none_ready' },
    { step: 'build', why: 'unknown', task: 't9' },
    { step: 'build', why: 'ended', task: 't1', end: 'done' },
    { step: 'build', why: 'depends', task: 't3', on: ['t1', 't2'] },
  ],
  task_held: [
    { why: 'other_holder' },
    { why: 'held', task: 't1' },
    { why: 'all_taken', step: 'build', held: 2, limit: 2 },
  ],
  bad_output: [
    { why: 'not_text' },
    { why: 'format', problem: 'packages[0].name is missing' },
    { why: 'too_long', bytes: 300_000, limit: 262_144 },
  ],
  bad_input: [
    { workflow: 'bugfix', name: 'bugs', why: 'unknown', inputs: ['bug', 'test'] },
    { workflow: 'bugfix', name: 'bugs', why: 'unknown', inputs: [] },
    { workflow: 'bugfix', name: 'bug', why: 'missing' },
    { workflow: 'bugfix', name: 'count', why: 'type', type: 'number' },
    { workflow: 'bugfix', name: 'level', why: 'not_allowed', allowed: ['patch', 'minor', 'major'] },
    { workflow: 'bugfix', name: 'count', why: 'not_allowed', allowed: [3] },
    { workflow: 'bugfix', name: 'branch', why: 'pattern', pattern: '[a-z]+(-[a-z]+)*' },
    { workflow: 'bugfix', name: 'branch', why: 'too_long', limit: 1000 },
  ],
  bad_note: [
    { why: 'empty', what: 'note' },
    { why: 'empty', what: 'question' },
    { why: 'no_reason', task: 't1' },
    { why: 'too_long', what: 'note', length: 512, limit: 400 },
    { why: 'too_long', what: 'todo', length: 70_000, limit: 65_536 },
    { why: 'no_key', kind: 'variable' },
    { why: 'bad_key', key: 'a b' },
  ],
  notes_full: [
    { why: 'count', what: 'variables', limit: 1000 },
    { why: 'count', what: 'files_read', limit: 1000 },
    { why: 'size', unit: 'characters', limit: 3000, keys: ['n1', 'db'] },
  ],
  missing_artifact: [{ at, missing: ['plan (docs/plan.md does not exist)'] }],
  not_adopted: [{ run }],
  unfinished: [{ source: 'CLAUDE.local.md', phase: 4, phases: 10 }],
  tree_changed: [
    { at, why: 'review' },
    { at, why: 'read_only' },
  ],
  person_only: [
    { what: 'review', at },
    { what: 'budget', step: 'build' },
    { what: 'blocked_loop', step: 'build' },
    { what: 'remove_task' },
    { what: 'answer' },
    { what: 'pass_boundary' },
    { what: 'rewind' },
    { what: 'cancel' },
  ],
  engine_only: [{}],
  own_work: [{ at, by: 'critic' }],
  already_waiting: [{ at }],
  not_waiting: [{}],
  bad_verdict: [{ why: 'budget' }, { why: 'no_task_done', step: 'build' }, { why: 'gates_not_passed', at }],
  amount_required: [
    { unit: 'turns', step: 'build' },
    { unit: 'cost', of: 'run', step: 'build' },
  ],
  no_budget: [{ step: 'build', units: ['turns'] }],
  no_pivot: [
    { from: 'build', steps: ['plan', 'build'] },
    { from: 'build', to: 'ship', steps: ['plan', 'build'] },
  ],
  no_question: [{ open: [] }, { open: ['q1'] }, { open: ['q1', 'q2'] }],
  no_boundary: [{}],
  unknown_step: [
    { why: 'rewind', given: 'ship', steps: ['plan', 'build'] },
    { why: 'import', given: 'ship', workflow: 'feature' },
  ],
  unknown_session: [{}, { session: 's-1' }],
  driver_held: [{ pid: 4711, machine: 'laptop', expires: 1 }],
  stale_driver: [{ epoch: 2 }],
  no_merge: [{ task: 'task-2' }],
  no_run: [
    { why: 'none_live' },
    { why: 'none_in_session' },
    { why: 'unknown', name: 'k3' },
    { why: 'unknown_handle', at },
    { message: 'The run k3 was removed.' },
  ],
  several_runs: [
    { runs: [{ run, summary: 'Dark mode' }], total: 1 },
    { runs: [{ run }, { run: 'go-20261116-abcdefgh' }], total: 2 },
  ],
  untrusted: [
    { workflow: 'feature', name: 'feature', grants: [{ run: 'npm test' }, { run: 'npm run lint' }] },
    {
      workflow: 'feature',
      name: 'feature',
      grants: [{ run: 'npm test' }],
      changes: {
        added: [{ run: 'npm test' }],
        removed: [
          { input: 'level', default: 'minor' },
          { agent: 'reviewer', permissions: 'plan' },
        ],
      },
    },
  ],
  no_file: [{ path: 'docs/gone.md' }],
  source_complete: [{ source: 'CLAUDE.local.md' }],
  run_live: [
    { run, source: 'CLAUDE.local.md' },
    { run, source: 'CLAUDE.local.md', force: true },
  ],
  bad_argument: [
    { tool: 'workflow_note', problem: { is: 'type', path: 'text', expected: 'a string', got: 'a list' } },
    {
      tool: 'workflow_note',
      problem: { is: 'value', path: 'kind', given: 'thought', allowed: ['decision', 'reminder'] },
    },
    {
      tool: 'workflow_note',
      problem: { is: 'value', path: 'kind', given: 'decisoin', allowed: ['decision'], nearest: 'decision' },
    },
    { tool: 'workflow_advance', problem: { is: 'unknown', path: 'outptu', nearest: 'output' } },
    { tool: 'workflow_claim', problem: { is: 'missing', path: 'run_id' } },
    { tool: 'workflow_advance', problem: { is: 'missing', path: 'output', description: 'what was done' } },
    { tool: 'workflow_advance', problem: { is: 'blank_reason' } },
    { tool: 'workflow_advance', problem: { is: 'verdict_and_failed' } },
    { tool: 'workflow_advance', problem: { is: 'verdict_without_at' } },
    { tool: 'workflow_start', problem: { is: 'input_not_scalar', name: 'bug' } },
    {
      tool: 'workflow_context',
      problem: { is: 'unknown_artifact', workflow: 'feature', given: 'spec', known: ['plan'] },
    },
  ],
  no_workflow: [{ message: "There is no workflow 'feture'. Did you mean 'feature'?" }],
  invalid_workflow: [{ message: 'feature.yaml has 2 errors.' }],
  bad_config: [{ message: '.stepfast/config.yaml is not valid.' }, { todoPath: '../todo.md' }],
  not_writable: [{ message: 'The project directory is read-only.' }],
  no_worktree: [{ message: 'git worktree add failed.' }],
  busy: [{ message: 'Another process holds the lock of the run.' }],
  key_reused: [{ message: 'The key was used for another call.' }],
  store_failed: [{ message: 'The journal could not be written.' }],
  store_forked: [{ message: 'The run has two histories.' }],
  store_corrupt: [
    { message: 'Line 7 is damaged.', run },
    { message: 'Line 7 is damaged.', onServer: true },
  ],
  store_newer: [{ message: 'The run was written by a newer Stepfast.' }],
  server_unreachable: [{ message: 'The server does not answer.' }],
  state_too_large: [{ message: 'The run is larger than the server accepts.' }],
  server_failed: [{ message: 'The server failed.' }],
  server_refused: [{ message: 'The token was revoked.' }],
  other_server: [{ message: 'The run lives on another server.' }],
};

/** A refusal that names an action has it worded by the action's own sentence. */
const withActions: Refused[] = [
  { code: 'checking', params: { at }, action: { do: 'wait', for: 'gates', at } },
  { code: 'stale_handle', params: { at }, action: { do: 'continue', at: [at, `${at}3`] } },
  { code: 'claim_required', params: { step: 'build' }, action: { ...claim, ready: ['t1', 't2'] } },
];

export const refusalSamples: Refused[] = [
  // The table above fits each code to its parameters.
  ...Object.entries(paramSamples).flatMap(([code, all]) =>
    all.map((params) => ({ code, params }) as unknown as Refused),
  ),
  ...withActions,
];
