import { type ConditionContext, compileCondition } from '../definition/index.ts';
import type { Cursor } from '../machine/index.ts';
import { type Loaded, projectState } from '../store/index.ts';
import type { Engine } from './engine.ts';

/** What conditions look at; long outputs are read whole only where one of them asks. */
export async function conditionContext(
  engine: Engine,
  { run, definition, state }: Loaded,
  expressions: readonly string[],
  cursor?: Cursor,
): Promise<ConditionContext> {
  if (expressions.length === 0) return {};
  const isAsked = outputsAsked(expressions, cursor);
  const outputs: Record<string, unknown> = {};
  const texts = Object.entries(state.outputs).map(([key, { text }]) => [key, text] as const);
  const own = cursor?.checking ? [[cursor.path.replaceAll('/', '.'), cursor.checking.output] as const] : [];
  for (const [key, text] of [...texts, ...own])
    if (isAsked(key)) put(outputs, key.split('.'), await engine.text(run, text));
  const { task, step = '', iteration } = cursor ?? {};
  // In a loop a sub-step's name means the same task's.
  const siblings = task === undefined ? undefined : dig(outputs, [step, task]);
  const list =
    task === undefined ? undefined : Object.values(state.tasks).find(({ byId }) => Object.hasOwn(byId, task));
  return {
    inputs: state.inputs,
    outputs: { ...outputs, ...(typeof siblings === 'object' ? siblings : {}) },
    ...(task === undefined ? {} : { task: list?.byId[task] }),
    ...(iteration === undefined ? {} : { iteration }),
    state: projectState(definition, state),
  };
}

/** A run may have megabytes of outputs: only those are read that an expression names. */
function outputsAsked(expressions: readonly string[], cursor: Cursor | undefined): (key: string) => boolean {
  const paths = expressions.flatMap((expression) => {
    const condition = compileCondition(expression);
    return condition.ok ? condition.paths.filter(([root]) => root === 'outputs') : [];
  });
  const all = paths.some(([, name]) => name === undefined);
  const names = new Set(paths.map(([, name]) => name));
  const task = cursor?.task === undefined ? undefined : `${cursor.step}.${cursor.task}.`;
  return (key) =>
    all ||
    names.has(key.split('.', 1)[0]) ||
    (task !== undefined && key.startsWith(task) && names.has(key.slice(task.length)));
}

type Tree = { [key: string]: unknown };

/** A text under its path; one that has parts of its own keeps them. */
function put(target: Tree, [first = '', ...rest]: string[], value: string): void {
  const known = Object.hasOwn(target, first) ? target[first] : undefined;
  if (rest.length === 0) {
    if (known === undefined) define(target, first, value);
    return;
  }
  const inner: Tree = isTree(known) ? known : {};
  if (inner !== known) define(target, first, inner);
  put(inner, rest, value);
}

function dig(target: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isTree(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    target,
  );
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Ids are an agent's own words: `__proto__` is one of them. */
const define = (target: Tree, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
};
