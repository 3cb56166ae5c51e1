import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { StepfastError } from '../errors.ts';
import { analyse, type Reading } from './condition-paths.ts';
import { type Budget, copyValue, readPath } from './condition-values.ts';

/** What a condition may look at; what is absent counts as null. */
export interface ConditionContext {
  inputs?: unknown;
  outputs?: unknown;
  /** Lists of `{ id, title, status, output }`, by loop. */
  tasks?: unknown;
  task?: unknown;
  iteration?: number;
  /** The run's `state.json`. */
  state?: unknown;
}

export interface Condition {
  ok: true;
  /** The paths that occur in the expression, for instance `['inputs', 'issue']`. */
  paths: readonly (readonly string[])[];
  /** Throws StepfastError `condition_failed` when the expression fails or gives something else than true or false. */
  evaluate(context: ConditionContext): boolean;
  /** What it looks at, by path, as short JSON. */
  values(context: ConditionContext): Record<string, string>;
}

interface ConditionProblem {
  ok: false;
  message: string;
  /** From 0, in the source. */
  offset: number;
  suggestion?: string;
}

const maxLength = 1000;
const limits = {
  maxAstNodes: 200,
  maxDepth: 16,
  maxListElements: 50,
  maxMapEntries: 20,
  maxCallArguments: 4,
};

interface Environments {
  /** Takes any name: shows what an expression reads. */
  outline: Environment;
  /** Knows only the variables that stand for paths. */
  program: Environment;
}

let shared: Environments | undefined;

function environments(): Environments {
  if (shared) return shared;
  const outline = new Environment({ unlistedVariablesAreDyn: true, limits });
  const program = new Environment({ homogeneousAggregateLiterals: false, limits });
  for (let index = 0; index <= limits.maxAstNodes; index++) program.registerVariable(variable(index), 'dyn');
  shared = { outline, program };
  return shared;
}

/**
 * Compiles a CEL expression over `inputs`, `outputs`, `tasks`, `task`, `iteration` and `state`; never throws. Every path
 * that the expression reads is taken out of it and becomes a variable, whose value is looked up here: own properties
 * only, null where something is missing, its truth as in JavaScript where a truth value belongs. So the library never
 * sees an object that it could climb out of.
 */
export function compileCondition(source: string): Condition | ConditionProblem {
  if (source.length > maxLength) {
    return { ok: false, message: `A condition has at most ${maxLength} characters`, offset: 0 };
  }
  try {
    const { outline, program } = environments();
    const expression = readJavaScript(source);
    const analysis = analyse(outline.parse(expression).ast);
    if (!analysis.ok) return { ...analysis, offset: offsetIn(source, analysis.offset) };
    const { readings, comprehension } = analysis;
    const parsed = program.parse(substitute(expression, readings));
    const checked = parsed.check();
    if (!checked.valid) return problem(source, checked.error);
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return {
        ok: false,
        message: `A condition must give true or false, this one gives ${checked.type}`,
        offset: 0,
      };
    }
    return {
      ok: true,
      paths: readings.map((reading) => reading.path),
      evaluate: (context) => run(source, parsed, lookUp(source, readings, context, comprehension)),
      values: (context) =>
        Object.fromEntries(readings.map(({ path }) => [path.join('.'), shortJson(readPath(context, path))])),
    };
  } catch (error) {
    return problem(source, error);
  }
}

function run(
  source: string,
  parsed: (context: Record<string, unknown>) => unknown,
  values: Record<string, unknown>,
): boolean {
  let result: unknown;
  try {
    result = parsed(values);
  } catch (error) {
    const reason = error instanceof EvaluationError ? error.summary : String(error);
    throw failed(source, reason, error);
  }
  if (typeof result === 'boolean') return result;
  throw failed(
    source,
    `it gives ${result === null ? 'null' : typeof result}, not true or false; compare it, for instance with != null`,
  );
}

function lookUp(
  source: string,
  readings: readonly Reading[],
  context: ConditionContext,
  comprehension: boolean,
): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  const budget: Budget = {
    nodes: comprehension ? 2_000 : 20_000,
    characters: comprehension ? 100_000 : 4_000_000,
  };
  const taskBudget: Budget = { nodes: 10_000, characters: 2_000_000 };
  for (const [index, { path, as }] of readings.entries()) {
    const found = readPath(context, path);
    if (as !== 'value') {
      values[variable(index)] = as === 'truth' ? Boolean(found) : found !== undefined && found !== null;
      continue;
    }
    const value = copyValue(found, path[0] === 'tasks' ? taskBudget : budget);
    if (value === undefined) throw failed(source, `${path.join('.')} is too large to be looked at`);
    values[variable(index)] = value;
  }
  return values;
}

const maxShown = 200;

const shortJson = (value: unknown): string => {
  const json = JSON.stringify(typeof value === 'string' ? value.slice(0, maxShown) : value) ?? 'null';
  return json.length > maxShown ? `${json.slice(0, maxShown)}…` : json;
};

const failed = (source: string, reason: string, cause?: unknown): StepfastError =>
  new StepfastError('condition_failed', `The condition "${source}" cannot be decided: ${reason}`, {
    data: { source },
    cause,
  });

/** At most as long as the shortest root, so that what it replaces is never shorter. */
function variable(index: number): string {
  return `_${index}`;
}

/** Same length as before, so every offset stays true. */
function substitute(expression: string, readings: readonly Reading[]): string {
  let result = '';
  let from = 0;
  for (const [index, { start, end }] of readings.entries()) {
    result += expression.slice(from, start) + variable(index).padEnd(end - start);
    from = end;
  }
  return result + expression.slice(from);
}

const javaScriptSpelling =
  /'''(?:\\.|[^\\])*?'''|"""(?:\\.|[^\\])*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|===|!==|(?<![\w.$])\$(?=\.)/gs;
const spellings = new Map([
  ['===', '== '],
  ['!==', '!= '],
  ['$', 'state'],
]);

/** Outside of texts, `===` and `!==` become `==` and `!=` with a space, and `$.` becomes `state.`. */
const readJavaScript = (source: string): string =>
  source.replaceAll(javaScriptSpelling, (match) => spellings.get(match) ?? match);

/** The place in the source of an offset in what `readJavaScript` made of it. */
function offsetIn(source: string, offset: number): number {
  let longer = 0;
  for (const match of source.matchAll(javaScriptSpelling)) {
    if (match.index + longer >= offset) break;
    longer += (spellings.get(match[0]) ?? match[0]).length - match[0].length;
  }
  return Math.max(0, offset - longer);
}

function problem(source: string, error: unknown): ConditionProblem {
  if (error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError) {
    const message = error.summary.replace(/_\d+/g, 'value');
    const suggestion = 'Conditions are CEL: && || ! == != and names without braces.';
    return {
      ok: false,
      message: `The condition is not valid: ${message}`,
      offset: offsetIn(source, error.range?.start ?? 0),
      suggestion,
    };
  }
  return { ok: false, message: 'The condition is not valid', offset: 0 };
}
