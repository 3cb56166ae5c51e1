import { findPlaceholders, plainPlaceholders, taskPlaceholders } from '../machine/index.ts';
import { didYouMean } from '../suggest.ts';
import type { Checked } from './check-steps.ts';
import { child, entries, items, maps, type Node, type SourceLocation, textOf } from './yaml-tree.ts';

/** Every text that is expanded when the run reaches it. */
export function checkPlaceholders(checked: Checked): void {
  const { root } = checked;
  const expand = (node: Node | undefined, loop?: Loop): void => checkText(node, loop, checked);
  for (const key of ['key_reminders', 'required_reading'])
    for (const item of items(child(root, key))) expand(item);
  for (const [, { value }] of entries(child(root, 'variables'))) expand(value);
  expand(child(root, 'todo_path'));
  for (const [, { value }] of entries(child(root, 'critical_artifacts'))) {
    for (const artifact of maps(value))
      for (const key of ['path', 'command', 'description']) expand(child(artifact, key));
  }
  const checkGates = (gates: Node | undefined, loop?: Loop): void => {
    for (const gate of maps(gates)) {
      expand(child(gate, 'exists'), loop);
      for (const item of items(child(gate, 'read'))) expand(item, loop);
      checkCommand(child(gate, 'run'), checked);
    }
  };
  for (const step of maps(child(root, 'steps'))) {
    expand(child(step, 'instructions'));
    for (const key of ['gate', 'until']) checkGates(child(step, key));
  }
  for (const [, { value }] of entries(child(root, 'loops'))) {
    const loop = { subSteps: new Set(maps(value).flatMap((subStep) => textOf(child(subStep, 'id')) ?? [])) };
    for (const subStep of maps(value)) {
      expand(child(subStep, 'instructions'), loop);
      checkGates(child(subStep, 'gate'), loop);
    }
  }
}

/** What a text in a loop may name beside the rest: the task, and the outputs of its sub-steps. */
interface Loop {
  subSteps: ReadonlySet<string>;
}

function checkText(node: Node | undefined, loop: Loop | undefined, checked: Checked): void {
  for (const { name, shell, place } of usesIn(node)) {
    const problem = judge(name, loop, checked);
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

function judge(name: string, loop: Loop | undefined, { inputs, stepIds }: Checked): Problem | undefined {
  const [root = '', ...rest] = name.split('.');
  const part = rest.join('.');
  if (plainPlaceholders.some((known) => known === name)) return undefined;
  if (root === 'task' && taskPlaceholders.some((known) => known === part)) {
    if (loop) return undefined;
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
    if (stepIds.has(rest[0] ?? '') || loop?.subSteps.has(part)) return undefined;
    return {
      message: `{${name}} names a step that does not exist`,
      suggestion: () => didYouMean(rest[0] ?? '', [...stepIds, ...(loop?.subSteps ?? [])]),
      unknown: false,
      reference: true,
    };
  }
  return {
    message: `Unknown placeholder {${shorten(name)}}`,
    suggestion: () => didYouMean(name, knownNames(name, inputs, stepIds)),
    unknown: true,
  };
}

/** One after the other: a suggestion looks at the first few only. */
function* knownNames(
  name: string,
  inputs: ReadonlySet<string>,
  stepIds: ReadonlySet<string>,
): Generator<string> {
  yield* plainPlaceholders;
  for (const part of taskPlaceholders) yield `task.${part}`;
  if (!name.includes('.')) return;
  for (const input of inputs) yield `input.${input}`;
  for (const step of stepIds) yield `outputs.${step}`;
}

function checkCommand(node: Node | undefined, { report }: Checked): void {
  for (const { name, shell, place } of usesIn(node)) {
    const [root = ''] = name.split('.', 1);
    const known =
      plainPlaceholders.some((each) => each === name) ||
      (name.includes('.') && ['task', 'input', 'outputs'].includes(root));
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
