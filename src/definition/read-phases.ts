import {
  child,
  type Entry,
  entries,
  isFalse,
  type MapNode,
  maps,
  type Node,
  type Report,
  type ScalarNode,
  textOf,
} from './yaml-tree.ts';

/** The phase of a step that comes from `pre_steps` or `post_steps`. */
const preceding = new WeakMap<Node, string>();
const following = new WeakMap<Node, string>();

/** A step as it was written, where defaults were added to it. */
const written = new WeakMap<Node, MapNode>();

/** A change of a step of the base takes no defaults. */
export const asWritten = (step: MapNode): MapNode => written.get(step) ?? step;

/** The phase that the step comes right before. */
export const phaseAfter = (step: Node): string | undefined => preceding.get(step);

/** The phase that the step comes right after. */
export const phaseBefore = (step: Node): string | undefined => following.get(step);

/** The `phases` of FABER as steps: of each phase its `pre_steps`, the phase itself and its `post_steps`. */
export function readPhases(tree: MapNode, report: Report): MapNode {
  const phases = tree.entries.get('phases');
  if (phases?.value.kind !== 'map') return tree;
  const rest = new Map(tree.entries);
  rest.delete('phases');
  const steps = rest.get('steps');
  if (steps)
    report(
      'error',
      'phases_and_steps',
      phases.key,
      "'phases' and 'steps' are two spellings",
      "Keep 'steps'.",
    );
  const items = entries(phases.value).flatMap(([id, phase]) => stepsOf(id, phase));
  if (!steps) rest.set('steps', { key: phases.key, value: { ...place(phases.value), kind: 'list', items } });
  return { ...tree, entries: rest };
}

function stepsOf(id: string, { key, value }: Entry): Node[] {
  if (value.kind !== 'map') return [value];
  if (isFalse(child(value, 'enabled'))) return [];
  const { pre_steps, post_steps, enabled: _, ...own } = Object.fromEntries(value.entries);
  const named = { ...value, entries: new Map(Object.entries({ id: text(id, key), ...own })) };
  const before = maps(pre_steps?.value).map((step) => action(step));
  for (const step of before) preceding.set(step, id);
  const after = maps(post_steps?.value).map((step) => action(step));
  for (const step of after) following.set(step, id);
  return [...before, action(named, `Do the phase '${id}'.`), ...after];
}

/** `prompt` and `description` become the instructions. */
function action(step: MapNode, otherwise?: string): MapNode {
  const { prompt, description, ...own } = Object.fromEntries(step.entries);
  const words = [instructionOf(textOf(prompt?.value)), textOf(description?.value)]
    .filter(Boolean)
    .join('\n\n');
  const at = (prompt ?? description)?.value ?? step;
  const worded = own.instructions || words === '' ? own : { ...own, instructions: text(words, at) };
  const whole = {
    type: text('action', step),
    ...(otherwise === undefined ? {} : { instructions: text(otherwise, at) }),
    ...worded,
  };
  const complete: MapNode = { ...step, entries: new Map(Object.entries(whole)) };
  written.set(complete, { ...step, entries: new Map(Object.entries(worded)) });
  return complete;
}

function instructionOf(prompt: string | undefined): string | undefined {
  if (prompt === undefined || !prompt.startsWith('/')) return prompt;
  // FABER's own command for what Stepfast has a tool for.
  return /^\/\S*:prime-context\b/.test(prompt)
    ? 'Call workflow_context: it has everything that must be known about the run.'
    : `Run the slash command ${prompt}`;
}

const place = ({ source, offset }: Node) => ({ source, offset });

function text(value: string, at: Entry['key']): Entry {
  const node: ScalarNode = { kind: 'scalar', value, source: at.source, offset: at.offset, end: at.offset };
  return { key: at, value: node };
}
