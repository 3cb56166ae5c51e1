import { findPlaceholders, plainPlaceholders, taskPlaceholders } from '../machine/index.ts';
import { didYouMean } from '../suggest.ts';
import { emptyOutput, stepUsing, type TextPosition } from './check-outputs.ts';
import type { Checked } from './check-steps.ts';
import { child, entries, items, maps, type Node, type SourceLocation, textOf } from './yaml-tree.ts';

/** Every text that is expanded when the run reaches it. */
export function checkPlaceholders(checked: Checked): void {
  const { root } = checked;
  const expand = (node: Node | undefined, at: TextPosition = {}): void => checkText(node, at, checked);
  for (const key of ['key_reminders', 'required_reading'])
    for (const item of items(child(root, key))) expand(item);
  for (const [, { value }] of entries(child(root, 'variables'))) expand(value);
  for (const key of ['todo_path', 'state_mirror'])
    for (const { name, place } of usesIn(child(root, key)))
      checked.report(
        'error',
        'unknown_placeholder',
        place,
        `{${shorten(name)}} is not expanded in '${key}'`,
        'Write a fixed path.',
      );
  for (const [, { value }] of entries(child(root, 'critical_artifacts'))) {
    for (const artifact of maps(value))
      for (const key of ['path', 'command', 'description']) expand(child(artifact, key));
  }
  const checkGates = (gates: Node | undefined, at: TextPosition): void => {
    for (const gate of maps(gates)) {
      expand(child(gate, 'exists'), at);
      for (const item of items(child(gate, 'read'))) expand(item, at);
      checkCommand(child(gate, 'run'), checked);
    }
  };
  for (const step of maps(child(root, 'steps'))) {
    const at = { step: textOf(child(step, 'id')) };
    expand(child(step, 'instructions'), at);
    for (const key of ['gate', 'until']) checkGates(child(step, key), at);
    checkCommand(child(step, 'run'), checked);
  }
  for (const step of maps(child(root, 'finally'))) checkCommand(child(step, 'run'), checked);
  for (const [id, { value }] of entries(child(root, 'loops'))) {
    const subSteps = maps(value).flatMap((subStep) => textOf(child(subStep, 'id')) ?? []);
    const step = stepUsing(checked, id);
    for (const subStep of maps(value)) {
      const at = { step, subSteps, subStep: textOf(child(subStep, 'id')) };
      expand(child(subStep, 'instructions'), at);
      checkGates(child(subStep, 'gate'), at);
      checkCommand(child(subStep, 'run'), checked);
    }
  }
}

function checkText(node: Node | undefined, at: TextPosition, checked: Checked): void {
  for (const { name, shell, place } of usesIn(node)) {
    const empty = name.startsWith('outputs.') ? emptyOutput(name.slice(8), at, checked) : undefined;
    if (empty) {
      const severity = empty.code === 'loop_output' ? 'error' : 'warning';
      const message = `{${name}} is always empty: ${empty.why}`;
      const suggestion = empty.suggestion.replaceAll(/\b(?:tasks|outputs)\.[\w.-]*\w/g, '{$&}');
      checked.report(severity, empty.code, place, message, suggestion);
      continue;
    }
    const problem = judge(name, at, checked);
    // `${NAME}` is how a shell writes it; an unknown one is left alone when the text is expanded.
    if (problem === undefined || (problem.unknown && shell)) continue;
    const literal = `Write {{${name}}} for literal braces.`;
    const report = problem.reference ? checked.reference : checked.report;
    report('error', 'unknown_placeholder', place, problem.message, () => {
      const advice = problem.suggestion?.();
      return advice === undefined ? literal : `${advice} ${literal}`;
    });
  }
}

interface Problem {
  message: string;
  suggestion?: () => string | undefined;
  /** Of no form that a placeholder has. */
  unknown: boolean;
  reference?: boolean;
}

function judge(
  name: string,
  { subSteps }: TextPosition,
  { inputs, stepIds, loops }: Checked,
): Problem | undefined {
  const [root = '', ...rest] = name.split('.');
  const part = rest.join('.');
  if (plainPlaceholders.some((known) => known === name)) return undefined;
  if (root === 'task' && taskPlaceholders.some((known) => known === part)) {
    if (subSteps) return undefined;
    return {
      message: `{${name}} has a value only in the sub-steps of a loop`,
      suggestion: () => 'Move it into a loop.',
      unknown: false,
    };
  }
  if (root === 'input' && part !== '') {
    if (inputs.has(part)) return undefined;
    return {
      message: `{${name}} names an input that is not declared`,
      suggestion: () => didYouMean(part, inputs) ?? `Declare '${part}' under inputs.`,
      unknown: false,
      reference: true,
    };
  }
  if (root === 'outputs' && part !== '') {
    if (stepIds.has(rest[0] ?? '') || subSteps?.includes(part)) return undefined;
    return {
      message: `{${name}} names a step that does not exist`,
      suggestion: () => didYouMean(rest[0] ?? '', [...stepIds, ...(subSteps ?? [])]),
      unknown: false,
      reference: true,
    };
  }
  if (root === 'tasks' && part !== '') {
    if (loops.has(part)) return undefined;
    return {
      message: `{${name}} names a loop that does not exist`,
      suggestion: () => didYouMean(part, loops),
      unknown: false,
      reference: true,
    };
  }
  return {
    message: `Unknown placeholder {${shorten(name)}}`,
    suggestion: () => didYouMean(name, knownNames(name, inputs, stepIds, loops)),
    unknown: true,
  };
}

/** One after the other: a suggestion looks at the first few only. */
function* knownNames(
  name: string,
  inputs: ReadonlySet<string>,
  stepIds: ReadonlySet<string>,
  loops: ReadonlySet<string>,
): Generator<string> {
  yield* plainPlaceholders;
  for (const part of taskPlaceholders) yield `task.${part}`;
  if (!name.includes('.')) return;
  for (const input of inputs) yield `input.${input}`;
  for (const step of stepIds) yield `outputs.${step}`;
  for (const loop of loops) yield `tasks.${loop}`;
}

function checkCommand(node: Node | undefined, { report }: Checked): void {
  for (const { name, shell, place } of usesIn(node)) {
    const [root = ''] = name.split('.', 1);
    const known =
      plainPlaceholders.some((each) => each === name) ||
      (name.includes('.') && ['task', 'tasks', 'input', 'outputs'].includes(root));
    if (!known || shell) continue;
    report(
      'error',
      'placeholder_in_run',
      place,
      `{${name}} is not expanded in 'run'`,
      'Values arrive as environment variables: STEPFAST_TASK_ID, STEPFAST_INPUT_<NAME>.',
    );
  }
}

interface Use {
  name: string;
  /** Written `${name}`. */
  shell: boolean;
  place: SourceLocation;
}

/** In the file the placeholders of a text stand in the same order as in its value; where they do not, its beginning has to do. */
function usesIn(node: Node | undefined): Use[] {
  if (node?.kind !== 'scalar' || typeof node.value !== 'string') return [];
  const { value, source, offset: start, end } = node;
  const uses = findPlaceholders(value);
  if (uses.length === 0) return [];
  const written = findPlaceholders(source.text.slice(start, end));
  const same =
    written.length === uses.length && written.every((use, index) => use.name === uses[index]?.name);
  return uses.map(({ name, offset }, index) => ({
    name,
    shell: value[offset - 1] === '$',
    place: { source, offset: start + (same ? (written[index]?.offset ?? 0) : 0) },
  }));
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
