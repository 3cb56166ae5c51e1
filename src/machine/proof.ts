import type { Definition, Gate, Receipt } from '../schema/index.ts';
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
