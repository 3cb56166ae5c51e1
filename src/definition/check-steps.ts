import { idPattern } from '../schema/index.ts';
import { didYouMean, nearest } from '../suggest.ts';
import {
  child,
  entries,
  keyLocation,
  type MapNode,
  maps,
  type Node,
  type Report,
  textOf,
} from './yaml-tree.ts';

/** A tree that is checked, and what its parts may refer to. */
export interface Checked {
  root: MapNode;
  stepIds: ReadonlySet<string>;
  /** The type of each step, in their order. */
  stepTypes: ReadonlyMap<string, string>;
  /** What `tasks.` may name: loop steps and loops. */
  loops: ReadonlySet<string>;
  inputs: ReadonlySet<string>;
  report: Report;
  /** An unknown step or input: an error, but a warning in a base, whose heirs may add it. */
  reference: Report;
}

export function checkSteps(checked: Checked): void {
  const { root, report } = checked;
  const agents = new Set(entries(child(root, 'agents')).map(([id]) => id));
  const steps = maps(child(root, 'steps'));
  const order = orderOf(steps);
  checkIds(steps, 'Step', report);
  for (const [index, step] of steps.entries()) {
    checkType(step, report);
    checkRun(step, `Step '${textOf(child(step, 'id')) ?? ''}'`, report);
    checkRetry(step, report);
    checkAgent(child(step, 'agent'), agents, report);
    const by = child(child(step, 'review'), 'by');
    checkReviewer(by, agents, report);
    for (const part of ['review', 'budget'])
      checkPivot(child(child(step, part), 'on_pivot'), index, order, checked);
  }
  checkStepId(child(child(root, 'budget'), 'on_pivot'), 'on_pivot', checked);
  for (const [id, { value }] of entries(child(root, 'loops'))) {
    const subSteps = maps(value);
    checkIds(subSteps, `Loop '${id}' sub-step`, report);
    for (const subStep of subSteps) {
      checkRetry(subStep, report);
      const name = `Sub-step '${textOf(child(subStep, 'id')) ?? ''}'`;
      checkRun(subStep, name, report);
      if (!isCommand(subStep) && !has(subStep, 'instructions'))
        report(
          'error',
          'missing_key',
          subStep,
          `${name} needs 'instructions'`,
          'Say what the agent is to do.',
        );
      checkAgent(child(subStep, 'agent'), agents, report);
    }
  }
  checkIds(maps(child(root, 'finally')), "Command of 'finally'", report);
  checkTransitions(order, checked);
}

function checkIds(steps: readonly MapNode[], what: string, report: Report): void {
  const seen = new Set<string>();
  for (const step of steps) {
    const node = child(step, 'id');
    const id = textOf(node);
    if (node === undefined || id === undefined) continue;
    if (seen.has(id))
      report('error', 'duplicate_id', node, `${what} '${id}' is given twice`, 'Give each its own id.');
    else if (idPattern.test(id) && (id === 'prototype' || id in Object.prototype)) {
      report('error', 'bad_id', node, `${what} id '${id}' is reserved`, 'Choose another id.');
    }
    seen.add(id);
  }
}

function checkType(step: MapNode, report: Report): void {
  const type = textOf(child(step, 'type'));
  const id = textOf(child(step, 'id')) ?? '';
  const only = (key: string, owner: string): void => {
    if (type === owner || !step.entries.has(key) || !['action', 'loop', 'ralph', 'run'].includes(type ?? ''))
      return;
    report(
      'error',
      'wrong_step_type',
      keyLocation(step, key),
      `Step '${id}' is of type ${type}, '${key}' belongs to ${owner} steps`,
      `Remove '${key}', or write type: ${owner}.`,
    );
  };
  only('n', 'ralph');
  if (type !== 'loop') for (const key of ['until', 'on_exhausted']) only(key, 'ralph');
  only('tasks', 'loop');
  only('parallel', 'loop');
  only('merge_gate', 'loop');
  only('loop', 'loop');
  if (type === 'ralph' && !step.entries.has('n')) {
    report(
      'warning',
      'n_missing',
      step,
      `Step '${id}' is of type ralph without 'n' and runs once`,
      'Write n: and how many iterations it has.',
    );
  }
  if (type === 'ralph' && step.entries.has('on_exhausted') && !has(step, 'until')) {
    report(
      'error',
      'without_until',
      keyLocation(step, 'on_exhausted'),
      `Step '${id}' has 'on_exhausted' without 'until'`,
      "Write until: and what must hold, or remove 'on_exhausted'.",
    );
  }
  if ((type === 'action' || type === 'ralph') && !isCommand(step) && !has(step, 'instructions')) {
    report('error', 'missing_key', step, `Step '${id}' needs 'instructions'`, 'Say what the agent is to do.');
  }
  if (type !== 'loop') return;
  for (const key of ['gate', 'review', 'until', 'on_exhausted', 'on_fail', 'attempts', 'read_only']) {
    if (!step.entries.has(key)) continue;
    report(
      'error',
      'not_on_loop',
      keyLocation(step, key),
      `Step '${id}' is a loop and cannot have '${key}'`,
      `Put ${key === 'gate' ? 'gates' : `'${key}'`} on its sub-steps, or add a step after the loop.`,
    );
  }
}

const ofCommands = ['run', 'timeout', 'idempotent'];
const ofAgents = ['instructions', 'agent', 'context', 'artefacts', 'read_only', 'review', 'budget'];

/** `type: run`, or an action with `run`, as the definition of a run has it. */
function isCommand(step: MapNode): boolean {
  const type = textOf(child(step, 'type')) ?? 'action';
  return type === 'run' || (type === 'action' && step.entries.has('run'));
}

/** A run step has a command and no agent. */
function checkRun(step: MapNode, name: string, report: Report): void {
  const isRun = isCommand(step);
  const foreign = isRun ? ofAgents : ofCommands;
  for (const key of foreign.filter((each) => step.entries.has(each))) {
    const [message, advice] = isRun
      ? [`${name} is a command of the engine and cannot have '${key}'`, `Remove '${key}'.`]
      : [`'${key}' belongs to run steps`, `Remove '${key}', or write type: run.`];
    report('error', 'wrong_step_type', keyLocation(step, key), message, advice);
  }
  if (isRun && !has(step, 'run'))
    report('error', 'missing_key', step, `${name} needs 'run'`, 'Write run: and the command.');
}

function checkRetry(step: MapNode, report: Report): void {
  if (child(step, 'on_fail')?.kind !== 'map' || !step.entries.has('attempts')) return;
  const advice = "Remove 'attempts': retry: is the number.";
  report(
    'error',
    'attempts_twice',
    keyLocation(step, 'attempts'),
    "'on_fail' already sets the number of attempts",
    advice,
  );
}

/** Has the key, or one that is its misspelling: that is reported by itself. */
const has = (step: MapNode, key: string): boolean =>
  [...step.entries.keys()].some((written) => written === key || nearest(written, [key]) !== undefined);

/** Who means a person must not get an agent by a slip of the pen. */
function checkReviewer(node: Node | undefined, agents: ReadonlySet<string>, report: Report): void {
  const name = textOf(node);
  if (node === undefined || name === undefined || name === 'human') return;
  if (!agents.has(name) && nearest(name, ['human'])) {
    report('error', 'unknown_reviewer', node, `Unknown reviewer '${name}'`, "Did you mean 'human'?");
  } else checkAgent(node, agents, report);
}

function checkAgent(node: Node | undefined, agents: ReadonlySet<string>, report: Report): void {
  const name = textOf(node);
  if (node === undefined || name === undefined || agents.has(name)) return;
  const also = 'Declare it under agents, or it must exist in the host.';
  report('warning', 'unknown_agent', node, `Agent '${name}' is not declared`, () =>
    [didYouMean(name, agents), also].filter((each) => each !== undefined).join(' '),
  );
}

function checkStepId(node: Node | undefined, key: string, { stepIds, reference }: Checked): void {
  const id = textOf(node);
  if (node === undefined || id === undefined || stepIds.has(id)) return;
  reference(
    'error',
    'unknown_step',
    node,
    `'${key}' names step '${id}', which does not exist`,
    () => didYouMean(id, stepIds) ?? `Steps: ${[...stepIds].slice(0, 10).join(', ')}.`,
  );
}

/** The first place of each id: asked for every reference, so it is worked out once. */
function orderOf(steps: readonly MapNode[]): ReadonlyMap<string, number> {
  const order = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    const id = textOf(child(step, 'id'));
    if (id !== undefined && !order.has(id)) order.set(id, index);
  }
  return order;
}

function checkPivot(
  node: Node | undefined,
  from: number,
  order: ReadonlyMap<string, number>,
  checked: Checked,
): void {
  checkStepId(node, 'on_pivot', checked);
  const to = textOf(node) ?? '';
  if (node === undefined || (order.get(to) ?? 0) <= from) return;
  const message = `'on_pivot' names step '${to}', which comes later`;
  checked.report('error', 'pivot_forward', node, message, () => {
    const earlier = [...order].filter(([, index]) => index <= from).map(([id]) => id);
    return `A pivot goes back: ${earlier.join(', ')}.`;
  });
}

function checkTransitions(order: ReadonlyMap<string, number>, checked: Checked): void {
  const seen = new Set<string>();
  const steps = maps(child(checked.root, 'steps'));
  for (const transition of maps(child(checked.root, 'transitions'))) {
    const from = child(transition, 'from');
    const to = child(transition, 'to');
    checkStepId(from, 'from', checked);
    checkStepId(to, 'to', checked);
    const pair = `${textOf(from)}->${textOf(to)}`;
    if (seen.has(pair))
      checked.report(
        'error',
        'duplicate_transition',
        transition,
        `The transition ${pair} is given twice`,
        'Keep one of them.',
      );
    seen.add(pair);
    const [left, begun] = [textOf(from) ?? '', textOf(to) ?? ''];
    const at = order.get(left);
    if (from === undefined || at === undefined || !order.has(begun)) continue;
    const next = textOf(child(steps[at + 1], 'id'));
    if (next === begun) continue;
    const advice = next === undefined ? `'${left}' is the last step.` : `After '${left}' comes '${next}'.`;
    checked.report(
      'warning',
      'transition_unused',
      from,
      `The run never goes from '${left}' to '${begun}'`,
      advice,
    );
  }
}
