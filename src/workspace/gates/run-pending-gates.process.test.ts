import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineWorkflow, type WorkflowInput } from '../../definition/index.ts';
import { WorkflowStateMachine } from '../../engine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { recordReading, runPendingGates } from './run-pending-gates.ts';

type Steps = NonNullable<WorkflowInput['steps']>;
type Gates = NonNullable<Steps[number]['gate']>;

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ 'guide.md': 'Read me.\n' });
});
afterEach(() => project[Symbol.dispose]());

const write = (file: string, text = ''): void => writeFileSync(join(project.root, file), text);

function machineWith(steps: Steps, more: Partial<WorkflowInput> = {}, inputs = {}): WorkflowStateMachine {
  const definition = defineWorkflow({ name: 'gated', description: 'With gates', steps, ...more });
  return new WorkflowStateMachine(definition, { inputs });
}

const gated = (gate: Gates, more: Partial<Steps[number]> = {}): WorkflowStateMachine =>
  machineWith([
    { id: 'make', type: 'action', instructions: 'Make it.', gate, ...more },
    { id: 'end', type: 'action', instructions: 'End.' },
  ]);

const run = (machine: WorkflowStateMachine) => runPendingGates(machine, { worktree: project.root });

describe('[A16] runPendingGates', () => {
  test('[A16] an advance with a gate ends: red stays at the step with the output, green goes on', async () => {
    const machine = gated([{ run: 'test -f made.txt || { echo missing made.txt; exit 3; }' }]);
    expect(machine.advance('made')).toMatchObject({ step: 'make', checking: {} });
    const red = await run(machine);
    expect(red).toMatchObject({ step: 'make', action: { do: 'fix' } });
    expect(red).not.toHaveProperty('checking');
    expect(red.failed_gates).toMatchObject([{ pass: false, exit: 3, tail: 'missing made.txt\n' }]);
    write('made.txt');
    machine.advance('made now');
    expect(await run(machine)).toMatchObject({ step: 'end', status: 'running' });
    expect(machine.state.outputs.make).toMatchObject({
      text: 'made now',
      receipts: [{ pass: true, exit: 0 }],
    });
    expect(machine.state.outputs.make?.tree).toEqual(expect.any(String));
  });

  test('[A16] exists, condition and read are checked as in a session', async () => {
    const gate = [
      { exists: 'out.txt' },
      { condition: 'outputs.make.contains("yes")' },
      { read: ['guide.md'] },
    ];
    const machine = gated(gate);
    machine.advance('no');
    expect((await run(machine)).failed_gates).toMatchObject([
      { pass: false },
      { pass: false },
      { pass: false },
    ]);
    write('out.txt');
    recordReading(machine, 'guide.md', { worktree: project.root });
    machine.advance('yes');
    expect(await run(machine)).toMatchObject({ step: 'end' });
    const changed = gated([{ read: ['guide.md'] }]);
    recordReading(changed, '@guide.md', { worktree: project.root });
    write('guide.md', 'Changed.\n');
    changed.advance('done');
    expect(await run(changed)).toMatchObject({ step: 'make', failed_gates: [{ pass: false }] });
    expect(() => recordReading(machine, 'none.md', { worktree: project.root })).toThrow(
      expect.objectContaining({ code: 'no_file' }),
    );
  });

  test('[A16] M7: a condition that cannot be decided blocks the position with the error', async () => {
    const condition = 'size(state.none) > 0';
    const machine = gated([{ condition }]);
    machine.advance('done');
    const waiting = { for: 'blocked', reason: expect.stringContaining(condition) };
    expect(await run(machine)).toMatchObject({ status: 'waiting', waiting });
  });

  test('[A16] commands get inputs and the run as variables, and the given environment', async () => {
    const command = 'test "$STEPFAST_INPUT_NAME $STEPFAST_RUN_ID $EXTRA" = "#7; rm -rf / gated-local more"';
    const machine = machineWith(
      [{ id: 'make', type: 'action', instructions: 'Make it.', gate: [{ run: command }] }],
      { inputs: { name: { required: true } } },
      { name: '#7; rm -rf /' },
    );
    machine.advance('made');
    const env = { PATH: process.env.PATH, EXTRA: 'more' };
    expect(await runPendingGates(machine, { worktree: project.root, env })).toMatchObject({
      status: 'complete',
    });
  });

  test('[A16] red gates count as attempts, and the last one ends the run', async () => {
    const machine = gated([{ run: 'false' }], { on_fail: { retry: 2, then: 'abort' } });
    for (const status of ['running', 'failed']) {
      machine.advance('made');
      expect((await run(machine)).status).toBe(status);
    }
  });

  test('[A16] until ends a ralph step, and gates run again at the end of the run', async () => {
    const machine = machineWith([
      {
        id: 'make',
        type: 'action',
        instructions: 'Make it.',
        gate: [{ run: 'test ! -f broken', rerun: true }],
      },
      { id: 'polish', type: 'ralph', n: 5, instructions: 'Polish.', until: [{ exists: 'bright' }] },
    ]);
    machine.advance('made');
    await run(machine);
    machine.advance('first');
    expect(await run(machine)).toMatchObject({ step: 'polish', ralphIteration: 2 });
    write('bright');
    write('broken');
    machine.advance('second');
    expect(await run(machine)).toMatchObject({ step: 'polish', status: 'running' });
    rmSync(join(project.root, 'broken'));
    machine.advance('third');
    expect(await run(machine)).toMatchObject({ status: 'complete' });
  });

  test('[A16] an abort stops the command, and the position is open again', async () => {
    const machine = gated([{ run: 'sleep 600' }]);
    machine.advance('made');
    const stop = new AbortController();
    const running = runPendingGates(machine, { worktree: project.root, signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    const status = await running;
    expect(status).toMatchObject({ step: 'make' });
    expect(status).not.toHaveProperty('checking');
    expect(machine.state.cursors.make?.reds).toBe(0);
  });

  test('[A16] gates that cannot run throw, and the position is open again', async () => {
    const machine = gated([{ exists: 'made.txt' }]);
    machine.advance('made');
    await expect(runPendingGates(machine, { worktree: join(project.root, 'none') })).rejects.toThrow(
      'ENOENT',
    );
    expect(machine.getStatus()).not.toHaveProperty('checking');
  });

  test('[A16] without pending gates nothing runs', async () => {
    const machine = gated([{ run: 'false' }]);
    expect(await run(machine)).toEqual(machine.getStatus());
  });

  test('[A16] a clock that goes on does not lose the result', async () => {
    const definition = defineWorkflow({
      ...{ name: 'clocked', description: 'x' },
      steps: [{ id: 'a', type: 'action', instructions: 'A.', gate: [{ run: 'true', timeout: 1 }] }],
    });
    const machine = new WorkflowStateMachine(definition, { now: Date.now });
    machine.advance('done');
    expect(await run(machine)).toMatchObject({ status: 'complete' });
  });
});
