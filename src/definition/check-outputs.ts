import type { Checked } from './check-steps.ts';
import { child, maps, textOf } from './yaml-tree.ts';

/** Where a text that names an output is used; nothing is known of a text for the whole run. */
export interface TextPosition {
  step?: string | undefined;
  /** The sub-steps of its loop, in order. */
  subSteps?: readonly string[];
  subStep?: string | undefined;
  /** The output of the position itself is known to its gates. */
  inGate?: boolean;
}

interface EmptyOutput {
  code: 'loop_output' | 'later_output';
  why: string;
  suggestion: string;
}

/** Why the output with this name never has a value there; undefined where it may have one. */
export function emptyOutput(name: string, at: TextPosition, checked: Checked): EmptyOutput | undefined {
  const { subSteps = [], subStep = '', inGate = false } = at;
  if (subSteps.includes(name)) {
    const [own, named] = [subSteps.indexOf(subStep), subSteps.indexOf(name)];
    return own < 0 || named < own || (inGate && named === own) ? undefined : later(name, named === own);
  }
  const [step = '', ...rest] = name.split('.');
  const type = checked.stepTypes.get(step);
  if (type === 'loop' && rest.length === 0) {
    const why = `step '${step}' is a loop, and only its tasks have outputs`;
    const suggestion = `Write tasks.${step} for the list of its tasks, or outputs.${step}.TASK.SUB_STEP.`;
    return { code: 'loop_output', why, suggestion };
  }
  const order = [...checked.stepTypes.keys()];
  const [own, named] = [order.indexOf(at.step ?? ''), order.indexOf(step)];
  if (own < 0 || named < own) return undefined;
  const isOwn = named === own;
  return isOwn && (inGate || type !== 'action') ? undefined : later(step, isOwn);
}

const later = (name: string, own: boolean): EmptyOutput => ({
  code: 'later_output',
  why: own ? `'${name}' has no output before it is done` : `'${name}' comes later`,
  suggestion: 'Name a step that is done by then.',
});

/** The step that goes over a loop. */
export const stepUsing = ({ root }: Checked, loop: string): string | undefined =>
  maps(child(root, 'steps'))
    .filter((step) => textOf(child(step, 'type')) === 'loop')
    .map((step) => ({ id: textOf(child(step, 'id')), loop: textOf(child(step, 'loop')) }))
    .find((step) => (step.loop ?? step.id) === loop)?.id;
