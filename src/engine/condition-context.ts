import { type ConditionContext, compileCondition } from '../definition/index.ts';
import {
  type Cursor,
  type Definition,
  loopIdOf,
  outputKey,
  type State,
  type Text,
  taskSummaries,
} from '../machine/index.ts';
import { type Loaded, projectState } from '../store/index.ts';

/** What conditions look at; long outputs are read whole only where one of them asks. */
export async function conditionContext(
  engine: { text(run: string, text: Text): Promise<string> },
  view: Loaded,
  expressions: readonly string[],
  cursor?: Cursor,
): Promise<ConditionContext> {
  if (expressions.length === 0) return {};
  const isAsked = outputsAsked(expressions, cursor);
  const texts: [string, string][] = [];
  for (const [key, text] of outputsAt(view.state, cursor))
    if (isAsked(key)) texts.push([key, await engine.text(view.run, text)]);
  return contextOf(view, texts, cursor);
}

/** The outputs of the run, with that of the position whose gates run. */
export function outputsAt({ outputs }: State, cursor?: Cursor): [key: string, text: Text][] {
  const texts = Object.entries(outputs).map(([key, { text }]): [string, Text] => [key, text]);
  return cursor?.checking ? [...texts, [outputKey(cursor.path), cursor.checking.output]] : texts;
}

/** The same from texts that are at hand. */
export function contextOf(
  { definition, state }: Pick<Loaded, 'definition' | 'state'>,
  texts: readonly (readonly [key: string, text: string])[],
  cursor?: Cursor,
): ConditionContext {
  const outputs: Record<string, unknown> = {};
  for (const [key, text] of texts) put(outputs, key.split('.'), readOutput(definition, key, text));
  const { task, step = '', iteration } = cursor ?? {};
  // In a loop a sub-step's name means the same task's.
  const siblings = task === undefined ? undefined : dig(outputs, [step, task]);
  const list =
    task === undefined ? undefined : Object.values(state.tasks).find(({ byId }) => Object.hasOwn(byId, task));
  return {
    inputs: state.inputs,
    outputs: withRounds(definition, { ...outputs, ...(isTree(siblings) ? siblings : {}) }),
    tasks: tasksOf(definition, state),
    ...(task === undefined ? {} : { task: list?.byId[task] }),
    ...(iteration === undefined ? {} : { iteration }),
    state: projectState(definition, state),
  };
}

/** The value of an output: parsed where its step says `output: json`. */
export function readOutput({ steps, loops = {} }: Definition, key: string, text: string): unknown {
  const [id, , sub] = key.split('.');
  const step = steps.find((each) => each.id === id);
  const work = sub === undefined ? step : loops[step?.loop ?? id ?? '']?.find((each) => each.id === sub);
  if (work?.output !== 'json') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tasksOf(definition: Definition, state: State): Tree {
  const tasks: Tree = {};
  for (const step of definition.steps) {
    const list = step.type === 'loop' ? taskSummaries(definition, state, step.id) : undefined;
    for (const name of list ? new Set([loopIdOf(step), step.id]) : []) define(tasks, name, list);
  }
  return tasks;
}

/** The name of a ralph step means its last round; each round keeps its own key. */
function withRounds({ steps }: Definition, outputs: Tree): Tree {
  for (const { id, type } of steps) {
    const rounds = type === 'ralph' ? dig(outputs, [id]) : undefined;
    if (!isTree(rounds)) continue;
    for (const [round, text] of Object.entries(rounds)) define(outputs, `${id}.${round}`, text, false);
    // Whole numbers are listed in their order.
    define(outputs, id, Object.values(rounds).at(-1));
  }
  return outputs;
}

/** A run may have megabytes of outputs: only those are read that an expression names. */
export function outputsAsked(expressions: readonly string[], cursor?: Cursor): (key: string) => boolean {
  const paths = expressions.flatMap((expression) => {
    const condition = compileCondition(expression);
    return condition.ok ? condition.paths.filter(([root]) => root === 'outputs') : [];
  });
  const all = paths.some(([, name]) => name === undefined);
  const names = new Set(paths.map(([, name]) => name?.split('.', 1)[0]));
  const task = cursor?.task === undefined ? undefined : `${cursor.step}.${cursor.task}.`;
  return (key) =>
    all ||
    names.has(key.split('.', 1)[0]) ||
    (task !== undefined && key.startsWith(task) && names.has(key.slice(task.length)));
}

type Tree = { [key: string]: unknown };

/** A text under its path; one that has parts of its own keeps them. */
function put(target: Tree, [first = '', ...rest]: string[], value: unknown): void {
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
const define = (target: Tree, key: string, value: unknown, enumerable = true): void => {
  Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
};
