import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCondition } from '../../definition/index.ts';
import { runGates } from '../../evidence/index.ts';
import { withoutAgentVariables } from '../../hosts/index.ts';
import {
  type Definition,
  findPlaceholders,
  type Gate,
  gateText,
  type Receipt,
  type Scalar,
} from '../../machine/index.ts';
import { conditionHolds, inputVariables } from '../../workspace/index.ts';
import type { Io } from '../io.ts';
import { createGateWatch } from '../watch-gates.ts';

export interface CheckedGates {
  receipts: Receipt[];
  /** Gates that depend on a run: outputs, tasks, required reading. */
  skipped: string[];
  unstable?: string[] | undefined;
}

interface Request {
  definition: Definition;
  inputs: Record<string, Scalar>;
  worktree: string;
  signal: AbortSignal;
}

const pollMs = 250;

/** Runs each distinct gate of a workflow once, in order. */
export async function checkGates(
  { definition, inputs, worktree, signal }: Request,
  io: Io,
): Promise<CheckedGates> {
  const all = gatesOf(definition);
  const values = withDefaults(definition, inputs);
  const gates = all
    .filter(isIndependentOfRun)
    .map((gate) => ({ gate: withoutRoot(gate), role: 'gate' as const, from: definition.name }));
  const skipped = all.filter((gate) => !isIndependentOfRun(gate)).map(gateText);
  if (gates.length === 0) return { receipts: [], skipped };
  const logs = await mkdtemp(join(tmpdir(), 'stepfast-gates-'));
  const watch = createGateWatch(io);
  const redraw = setInterval(() => {
    if (!signal.aborted) watch.onProgress({ run: '', id: '', logs });
  }, pollMs);
  try {
    const { receipts, unstable } = await runGates({
      gates,
      worktree,
      env: { ...withoutAgentVariables(io.env), ...inputVariables(values) },
      logDirectory: logs,
      condition: (expression) => conditionHolds(expression, { inputs: values }),
      isRead: () => 'unread',
      signal,
    });
    const named = receipts.map((receipt): Receipt => {
      const gate = gates[receipt.gate]?.gate;
      return { ...receipt, role: 'gate', what: gate === undefined ? '' : gateText(gate) };
    });
    return { receipts: named, skipped, unstable };
  } finally {
    clearInterval(redraw);
    watch.end();
    await rm(logs, { recursive: true, force: true });
  }
}

function gatesOf({ steps, loops = {} }: Definition): Gate[] {
  const all = [...steps, ...Object.values(loops).flat()].flatMap((step) => step.gate ?? []);
  const known = new Set<string>();
  return all.filter((gate) => {
    const key = JSON.stringify(gate);
    return !known.has(key) && known.add(key);
  });
}

/** True for commands that are to pass, for files without placeholders, and for conditions that use only inputs. */
function isIndependentOfRun(gate: Gate): boolean {
  // A failure is expected before the work is done, and what is committed is the work.
  if (gate.run !== undefined) return gate.expect === undefined;
  if (gate.exists !== undefined) return findPlaceholders(withoutRoot(gate).exists ?? '').length === 0;
  const condition = gate.condition === undefined ? undefined : compileCondition(gate.condition);
  return condition?.ok === true && condition.paths.every(([root]) => root === 'inputs');
}

const withoutRoot = (gate: Gate): Gate =>
  gate.exists === undefined ? gate : { ...gate, exists: gate.exists.replace(/^\{project_root\}\/?/, '') };

function withDefaults({ inputs = {} }: Definition, given: Record<string, Scalar>): Record<string, Scalar> {
  const defaults = Object.entries(inputs).flatMap(([name, input]) =>
    input.default === undefined ? [] : [[name, input.default] as const],
  );
  return { ...Object.fromEntries(defaults), ...given };
}
