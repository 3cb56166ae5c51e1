import { findPlaceholders } from '../machine/index.ts';
import { didYouMean, nearest } from '../suggest.ts';
import { checkPath } from './check-artifacts.ts';
import { emptyOutput, stepUsing, type TextPosition } from './check-outputs.ts';
import type { Checked } from './check-steps.ts';
import { compileCondition } from './evaluate-condition.ts';
import {
  child,
  entries,
  isTrue,
  items,
  keyLocation,
  type MapNode,
  maps,
  type Node,
  type Report,
  type ScalarNode,
  textOf,
} from './yaml-tree.ts';

const kinds = ['run', 'exists', 'condition', 'read'];
const ofRun = ['expect', 'contains', 'paths', 'writes', 'timeout', 'baseline'];
const details = [...ofRun, 'rerun'];

/** Gates, `until` and the conditions of critical artifacts. */
export function checkGates(checked: Checked): void {
  const { root, report } = checked;
  const steps = maps(child(root, 'steps'));
  const last = steps.at(-1);
  const endsWithLoop = textOf(child(last, 'type')) === 'loop' || last?.entries.has('when') === true;
  const check = (gate: MapNode, at: TextPosition): void => {
    checkGate(gate, report);
    checkPath(child(gate, 'exists'), "'exists'", report);
    for (const key of ['read', 'paths', 'writes']) {
      for (const node of items(child(gate, key))) checkPath(node, `'${key}'`, report);
    }
    for (const node of items(child(gate, 'read'))) checkRead(node, report);
    if (at.subSteps && isTrue(child(gate, 'rerun')) && namesTask(gate)) {
      report(
        'error',
        'rerun_of_task',
        keyLocation(gate, 'rerun'),
        "'rerun' cannot go with {task.…}: when the run completes there is no task",
        "Remove 'rerun', or name files that belong to no task.",
      );
    }
    checkCondition(child(gate, 'condition'), at, checked);
    if (endsWithLoop && isTrue(child(gate, 'rerun'))) {
      report(
        'error',
        'rerun_after_loop',
        keyLocation(gate, 'rerun'),
        "'rerun' needs an action step without 'when' at the end, because these gates run when the run completes",
        'Add such a step at the end.',
      );
    }
  };
  for (const step of steps) {
    const at = { step: textOf(child(step, 'id')), inGate: true };
    checkCondition(child(step, 'when'), { step: at.step }, checked);
    for (const key of ['gate', 'until', 'merge_gate'])
      for (const gate of maps(child(step, key))) check(gate, at);
    checkMergeGates(step, report);
    for (const gate of maps(child(step, 'until'))) checkUntil(gate, report);
  }
  for (const [id, { value }] of entries(child(root, 'loops'))) {
    const subSteps = maps(value).flatMap((subStep) => textOf(child(subStep, 'id')) ?? []);
    const step = stepUsing(checked, id);
    for (const subStep of maps(value)) {
      const at = { step, subSteps, subStep: textOf(child(subStep, 'id')), inGate: true };
      checkCondition(child(subStep, 'when'), { ...at, inGate: false }, checked);
      for (const gate of maps(child(subStep, 'gate'))) check(gate, at);
    }
  }
  for (const [, { value }] of entries(child(root, 'critical_artifacts'))) {
    for (const artifact of maps(value)) checkCondition(child(artifact, 'condition'), {}, checked);
  }
}

function checkGate(gate: MapNode, report: Report): void {
  const found = kinds.filter((kind) => gate.entries.has(kind));
  const misspelt = [...gate.entries.keys()].some((key) => !details.includes(key) && nearest(key, kinds));
  if (found.length !== 1 && !(found.length === 0 && misspelt)) {
    const got = found.length === 0 ? 'none of them' : found.join(' and ');
    report(
      'error',
      'gate_kind',
      gate,
      `A gate has exactly one of run, exists, condition, read; this one has ${got}`,
      found.length === 0 ? 'Write for instance run: npm test' : 'Write one gate for each.',
    );
  }
  if (gate.entries.has('expect') && isTrue(child(gate, 'rerun'))) {
    report(
      'error',
      'rerun_of_failure',
      keyLocation(gate, 'rerun'),
      "'rerun' cannot go with 'expect': a run does not complete while a command is expected to fail",
      "Remove 'rerun', or write the command without 'expect' on a later step.",
    );
  }
  if (gate.entries.has('run')) return;
  for (const key of ofRun) {
    if (gate.entries.has(key))
      report(
        'error',
        'only_with_run',
        keyLocation(gate, key),
        `'${key}' belongs to a gate with 'run'`,
        `Remove '${key}'.`,
      );
  }
}

/** They run on the merged tree, where there is no agent and no session. */
function checkMergeGates(step: MapNode, report: Report): void {
  if (!step.entries.has('merge_gate')) return;
  const parallel = child(step, 'parallel');
  if (parallel?.kind !== 'scalar' || Number(parallel.value) < 2)
    report(
      'error',
      'merge_without_parallel',
      keyLocation(step, 'merge_gate'),
      "'merge_gate' needs 'parallel: 2' or more: other tasks are not merged",
      'Write parallel: on the step, or move the checks to gate: of the last sub-step.',
    );
  for (const gate of maps(child(step, 'merge_gate'))) {
    for (const key of ['condition', 'read', 'expect', 'rerun']) {
      if (!gate.entries.has(key)) continue;
      report(
        'error',
        'merge_gate_kind',
        keyLocation(gate, key),
        `'${key}' cannot be part of 'merge_gate'`,
        'Write run: or exists: there.',
      );
    }
  }
}

/** `until` is not about one iteration. */
function checkUntil(gate: MapNode, report: Report): void {
  if (!gate.entries.has('run') || !gate.entries.has('baseline')) return;
  report(
    'error',
    'baseline_of_until',
    keyLocation(gate, 'baseline'),
    "'baseline' belongs to a gate in 'gate', not in 'until'",
    "Remove 'baseline', or add the command to 'gate'.",
  );
}

/** The @ belongs to required_reading. */
function checkRead(node: Node, report: Report): void {
  const path = textOf(node);
  if (!path?.startsWith('@')) return;
  const advice = `Write ${JSON.stringify(path.slice(1))}`;
  report('error', 'bad_path', node, `'read' names files without @, got '${path.slice(0, 100)}'`, advice);
}

function namesTask(gate: MapNode): boolean {
  const texts = [child(gate, 'exists'), ...items(child(gate, 'read'))].map((node) => textOf(node) ?? '');
  return texts.some((text) => findPlaceholders(text).some(({ name }) => name.startsWith('task.')));
}

function checkCondition(node: Node | undefined, at: TextPosition, checked: Checked): void {
  const { report, stepIds, inputs, loops } = checked;
  const source = textOf(node);
  if (node?.kind !== 'scalar' || source === undefined || source.length > 1000) return;
  const condition = compileCondition(source);
  if (!condition.ok) {
    report(
      'error',
      'bad_condition',
      inText(node, source, condition.offset),
      condition.message,
      condition.suggestion,
    );
    return;
  }
  for (const [root, name, ...rest] of condition.paths) {
    if (name === undefined) continue;
    const whole = [name, ...rest].join('.');
    const empty = root === 'outputs' ? emptyOutput(whole, at, checked) : undefined;
    if (empty) {
      const message = `The condition looks at outputs.${whole}: ${empty.why}`;
      report('warning', empty.code, node, message, empty.suggestion);
    }
    if (root === 'tasks' && !loops.has(name)) {
      const message = `The condition looks at tasks.${name}, but there is no loop with that name`;
      report('warning', 'unknown_loop', node, message, () => didYouMean(name, loops));
    }
    if (root === 'inputs' && !inputs.has(name)) {
      report(
        'warning',
        'unknown_input',
        node,
        `The condition looks at inputs.${name}, which is not declared and so always null`,
        () => didYouMean(name, inputs),
      );
    }
    if (root === 'outputs' && !stepIds.has(name.split('.')[0] ?? '') && !at.subSteps?.includes(name)) {
      report(
        'warning',
        'unknown_step',
        node,
        `The condition looks at outputs.${name}, but there is no step with that name`,
        () => didYouMean(name, stepIds),
      );
    }
  }
}

/** The place of an offset inside a value, exact where the text stands in the file as it is. */
function inText(
  node: ScalarNode,
  value: string,
  offset: number,
): { source: ScalarNode['source']; offset: number } {
  const start = node.source.text.slice(node.offset, node.end).indexOf(value);
  return { source: node.source, offset: start === -1 ? node.offset : node.offset + start + offset };
}
