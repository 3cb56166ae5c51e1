import type { Definition, Gate, Receipt } from '../schema/index.ts';
import { gateText } from './gate-text.ts';
import { gatesOn } from './gates.ts';
import { parseHandle } from './handle.ts';
import type { Output } from './state.ts';

/** Whether the output ended a ralph step although `until` did not hold. */
export function endedUnproven({ steps }: Definition, { at, receipts }: Output): boolean {
  const [id, iteration] = parseHandle(at)?.path.split('/') ?? [];
  const step = steps.find((each) => each.id === id);
  if (step?.type !== 'ralph' || Number(iteration) < (step.n ?? 1)) return false;
  return receipts.some(({ pass, role }) => !pass && role === 'until');
}

/** The gate that left a receipt at a position: the same text may stand for another gate elsewhere. */
export function gateOf(definition: Definition, at: string, { gate, role }: Receipt): Gate | undefined {
  const [id = '', task, subStep] = parseHandle(at)?.path.split('/') ?? [];
  const step = definition.steps.find((each) => each.id === id);
  if (!step) return undefined;
  const inLoop = step.type === 'loop' && task !== undefined && subStep !== undefined;
  const requested = gatesOn(definition, inLoop ? { step: id, task, subStep } : { step: id })[gate];
  return requested?.role === role ? requested.gate : undefined;
}

export type GateKind = 'run' | 'exists' | 'condition' | 'read';

/** What kind of gate left a receipt. `at`: the position of the receipt, where it is known. */
export function gateKind(definition: Definition, receipt: Receipt, at?: string): GateKind {
  if (receipt.exit !== undefined) return 'run';
  const gate = at === undefined ? undefined : gateOf(definition, at, receipt);
  return gate ? kindIn(gate) : kindOf(definition, receipt.what);
}

function kindIn({ run, condition, read }: Gate): GateKind {
  if (run !== undefined) return 'run';
  if (condition !== undefined) return 'condition';
  return read === undefined ? 'exists' : 'read';
}

function kindOf({ steps, loops = {} }: Definition, what: string): GateKind {
  const work = [...steps, ...Object.values(loops).flat()];
  const gates = [...work.flatMap(({ gate }) => gate ?? []), ...steps.flatMap(({ until }) => until ?? [])];
  if (gates.some((gate) => gate.run !== undefined && gateText(gate) === what)) return 'run';
  if (gates.some(({ condition }) => condition === what)) return 'condition';
  // A file name may contain a placeholder, so anything else is taken for a file.
  return gates.some(({ read }) => read?.join(', ') === what) ? 'read' : 'exists';
}
