/**
 * An agent loop of your own with gates: `node examples/agent-loop-with-gates.ts`. The agent says "done" too early; the
 * gates, which run for real in a temporary folder, do not believe it. The agent is a script, so the program needs no key
 * and asserts its own results.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineWorkflow,
  nextForTools,
  recordReading,
  runPendingGates,
  type Status,
  WorkflowStateMachine,
} from '../src/index.ts';

const workflow = defineWorkflow({
  name: 'sum',
  description: 'Add a function',
  steps: [
    {
      id: 'read',
      type: 'action',
      instructions: 'Read rules.md.',
      gate: [{ read: ['rules.md'] }],
    },
    {
      id: 'code',
      type: 'action',
      instructions: 'Write sum.mjs.',
      gate: [{ exists: 'sum.mjs' }, { run: 'node check.mjs' }],
      on_fail: { retry: 3, then: 'abort' },
    },
    {
      id: 'report',
      type: 'action',
      instructions: 'Report, and name the file.',
      gate: [{ condition: 'outputs.report.contains("sum.mjs")' }],
    },
  ],
});

const check = `import assert from 'node:assert/strict';
import { sum } from './sum.mjs';
assert.equal(sum([1, 2, 3]), 6);
`;

/** Stands for a model: what it does at each call, and what it says then. */
function createAgent(worktree: string, onRead: (path: string) => void): (prompt: string) => string {
  const write = (code: string): void => writeFileSync(join(worktree, 'sum.mjs'), code);
  const turns = [
    () => 'I know the rules.',
    () => {
      readFileSync(join(worktree, 'rules.md'), 'utf8');
      onRead('rules.md');
      return 'I have read the rules.';
    },
    () => 'Done, all tests pass.',
    () => {
      write('export const sum = (list) => list.length;\n');
      return 'Now it is done.';
    },
    () => {
      write('export const sum = (list) => list.reduce((a, b) => a + b, 0);\n');
      return 'The test passes.';
    },
    () => 'The function is written.',
    () => 'sum.mjs has the function.',
  ];
  return () => turns.shift()?.() ?? 'I am done.';
}

export async function main() {
  const worktree = mkdtempSync(join(tmpdir(), 'stepfast-example-'));
  try {
    writeFileSync(join(worktree, 'rules.md'), 'No loops.\n');
    writeFileSync(join(worktree, 'check.mjs'), check);
    // #region gates
    const machine = new WorkflowStateMachine(workflow);
    const agent = createAgent(worktree, (path) => recordReading(machine, path, { worktree }));
    const turns: string[] = [];
    let status: Status = machine.getStatus();
    while (status.status === 'running') {
      const failed = (status.failed_gates ?? []).filter(({ pass }) => !pass);
      const problems = failed.map(({ what, tail = '' }) => `${what}\n${tail}`);
      const output = agent([status.instructions, nextForTools(status.action), ...problems].join('\n\n'));
      const { step } = status;
      machine.advance(output);
      status = await runPendingGates(machine, { worktree });
      const isLeft = status.step !== step || status.status === 'complete';
      turns.push(`${step}: "${output}" ${isLeft ? 'passed' : 'failed'}`);
    }
    // #endregion
    assert.equal(status.status, 'complete');
    assert.deepEqual(
      turns.map((turn) => turn.replace(/".*"/, '')),
      ['read', 'read', 'code', 'code', 'code', 'report', 'report'].map(
        (step, index) => `${step}:  ${[1, 4, 6].includes(index) ? 'passed' : 'failed'}`,
      ),
    );
    const receipts = machine.state.outputs.code?.receipts ?? [];
    assert.deepEqual(
      receipts.map(({ what, pass }) => [what, pass]),
      [
        ['sum.mjs', true],
        ['node check.mjs', true],
      ],
    );
    return { turns, machine };
  } finally {
    rmSync(worktree, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const { turns } = await main();
  for (const turn of turns) console.log(turn);
  console.log('complete, with every gate green');
}
