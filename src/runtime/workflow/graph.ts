import {
  attemptsOf,
  type Budget,
  type ContextAction,
  type Definition,
  type Gate,
  gateText,
  isRunStep,
  retryOf,
  type Step,
  type SubStep,
} from '../../machine/index.ts';
import { count, printable, worktreeFacts } from '../../messages/index.ts';

/** A workflow as every format draws it, with printable texts and final labels. */
export interface Graph {
  name: string;
  description: string;
  type: string;
  facts: string[];
  phases: Phase[];
  pivots: Pivot[];
}

/** A step or a sub-step. */
export interface Card {
  id: string;
  title?: string;
  agent?: string;
  /** The first line of the instructions. */
  about: string;
  /** The condition under which this is done at all. */
  when?: string;
  /** The boundary before this step. */
  before?: Mark;
  gates: CheckText[];
  failure?: string;
  artefacts: boolean;
  readOnly: boolean;
}

export interface Phase extends Card {
  type: Step['type'] | 'run';
  review?: string;
  budget?: string[];
  /** For a loop: where its tasks come from. */
  tasks?: string;
  /** For a loop: the number of parallel tasks. */
  parallel: number;
  subSteps: Card[];
  /** For a ralph step. */
  rounds: number;
  until: CheckText[];
}

export interface Mark {
  command: '/clear' | '/compact';
  /** Applies before every round of a ralph step, not only the first. */
  eachRound: boolean;
}

export interface CheckText {
  /** True for a command or an expression; otherwise the text is a sentence. */
  code: boolean;
  text: string;
}

/** From one phase back to another (or itself), by index. */
export interface Pivot {
  from: number;
  to: number;
  causes: ('review' | 'budget')[];
}

export function createGraph(definition: Definition): Graph {
  return {
    name: printable(definition.name),
    description: printable(definition.description).trim(),
    type: definition.type ?? 'custom',
    facts: factsOf(definition),
    phases: definition.steps.map((step, index) => phaseOf(definition, step, index)),
    pivots: pivotsOf(definition),
  };
}

function phaseOf(definition: Definition, step: Step, index: number): Phase {
  const subSteps = step.type === 'loop' ? subStepsOf(definition, step) : [];
  const arrival = arrivalOf(definition, index);
  const before =
    step.type === 'loop'
      ? // A loop's own context applies before each of its sub-steps; the transition's context before the first.
        (subSteps[0]?.context ?? step.context) === undefined
        ? arrival
        : undefined
      : (step.context ?? arrival);
  return {
    ...cardOf(step),
    type: isRunStep(step) ? 'run' : step.type,
    ...(before && { before: markOf(before, step.type === 'ralph' && step.context !== undefined) }),
    ...(step.review && { review: printable(step.review.by) }),
    ...(step.budget && { budget: limitsOf(step.budget) }),
    ...tasksOf(step),
    parallel: step.parallel ?? 1,
    subSteps: subSteps.map((sub) => {
      const context = sub.context ?? step.context;
      return { ...cardOf(sub), ...(context && { before: markOf(context, false) }) };
    }),
    rounds: step.n ?? 1,
    until: (step.until ?? []).map(checkOf),
  };
}

function tasksOf({ tasks = {} }: Step): { tasks?: string } {
  const { files, checklist, json, output } = tasks;
  const from = files ?? checklist ?? json ?? (output === undefined ? undefined : `the output ${output}`);
  return from === undefined ? {} : { tasks: `tasks from ${printable(from)}` };
}

function cardOf(step: Step | SubStep): Card {
  const failure = failureOf(step);
  return {
    id: printable(step.id),
    ...(step.title !== undefined && { title: printable(step.title) }),
    ...(step.agent !== undefined && { agent: printable(step.agent) }),
    about: step.run === undefined ? firstLine(step.instructions ?? '') : `$ ${printable(step.run.trim())}`,
    ...(step.when !== undefined && { when: printable(step.when.trim()) }),
    gates: (step.gate ?? []).map(checkOf),
    ...(failure !== undefined && { failure }),
    artefacts: step.artefacts === true,
    readOnly: step.read_only === true,
  };
}

function subStepsOf(definition: Definition, step: Step): SubStep[] {
  const loop = step.loop ?? step.id;
  return definition.loops && Object.hasOwn(definition.loops, loop) ? (definition.loops[loop] ?? []) : [];
}

function arrivalOf(definition: Definition, index: number): ContextAction | undefined {
  const [from, to] = [definition.steps[index - 1]?.id, definition.steps[index]?.id];
  return definition.transitions?.find((transition) => transition.from === from && transition.to === to)
    ?.context;
}

const markOf = (context: ContextAction, eachRound: boolean): Mark => ({
  command: context === 'clear' ? '/clear' : '/compact',
  eachRound,
});

function checkOf(gate: Gate): CheckText {
  if (gate.run !== undefined)
    return { code: true, text: printable(gateText({ ...gate, run: gate.run.trim() })) };
  if (gate.condition !== undefined) return { code: true, text: printable(gate.condition.trim()) };
  if (gate.exists !== undefined) return { code: false, text: `${printable(gate.exists)} exists` };
  return { code: false, text: `read ${(gate.read ?? []).map(printable).join(', ')}` };
}

function failureOf(step: Step | SubStep): string | undefined {
  const retry = retryOf(step);
  if (retry) {
    const then = { skip: ', then the task is skipped', abort: ', then the run ends', wait: '' };
    return `up to ${count(retry.retry, 'attempt')}${then[retry.then ?? 'wait']}`;
  }
  if (step.on_fail === 'skip') return 'a failure skips the task';
  if (step.on_fail === 'abort') return 'a failure ends the run';
  if (step.on_fail === undefined && step.attempts === undefined) return undefined;
  return `up to ${count(attemptsOf(step), 'attempt')}`;
}

function limitsOf({ turns, tokens, minutes, cost }: Budget): string[] {
  return [
    ...(turns === undefined ? [] : [count(turns, 'turn')]),
    ...(tokens === undefined ? [] : [`${short(tokens)} tokens`]),
    ...(minutes === undefined ? [] : [`${minutes} min`]),
    ...(cost === undefined ? [] : [`$${cost}`]),
  ];
}

function short(number: number): string {
  if (number >= 1_000_000) return `${Number((number / 1_000_000).toFixed(1))}M`;
  return number >= 10_000 ? `${Math.round(number / 1000)}k` : String(number);
}

function pivotsOf(definition: Definition): Pivot[] {
  const indexOf = (id: string | undefined): number => definition.steps.findIndex((step) => step.id === id);
  return definition.steps.flatMap((step, from) => {
    const review = indexOf(step.review?.on_pivot);
    const budget = indexOf(step.budget?.on_pivot);
    const pivots: Pivot[] = [];
    if (review >= 0)
      pivots.push({ from, to: review, causes: review === budget ? ['review', 'budget'] : ['review'] });
    if (budget >= 0 && budget !== review) pivots.push({ from, to: budget, causes: ['budget'] });
    return pivots;
  });
}

function factsOf(definition: Definition): string[] {
  const inputs = Object.entries(definition.inputs ?? {}).map(
    ([name, input]) => printable(name) + (input.required ? '' : '?'),
  );
  return [
    ...(inputs.length > 0 ? [`${inputs.length === 1 ? 'input' : 'inputs'} ${inputs.join(', ')}`] : []),
    ...(definition.budget ? [`budget ${limitsOf(definition.budget).join(', ')}`] : []),
    ...worktreeFacts(definition).map(printable),
    ...(definition.boundaries === 'require' ? ['boundaries required'] : []),
    ...(definition.boundaries === 'off' ? ['boundaries off'] : []),
    ...(definition.stop === 'hold' ? ['holds until done'] : []),
    ...(definition.finally
      ? [`finally ${definition.finally.map(({ id }) => printable(id)).join(', ')}`]
      : []),
    ...(definition.notify?.length ? [`notifies: ${definition.notify.join(', ')}`] : []),
  ];
}

const firstLine = (text: string): string => printable(text.trim().split(/\r?\n/, 1)[0] ?? '').trim();
