import type { Command, CommandOf, Definition, Scalar } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { enterStep, openLoop } from './flow.ts';
import { inputProblem } from './input-problem.ts';
import { own } from './own-property.ts';
import { ownerOf } from './ownership.ts';
import { type Refusal, type RefusalParams, refuse } from './refusal.ts';
import { heldCount, subStepsOf } from './steps.ts';

/** The first command of a run. */
export function begin(batch: Batch, command: Command): Refusal | undefined {
  switch (command.type) {
    case 'start': {
      const { inputs, refusal } = readInputs(batch.definition, command.inputs ?? {});
      if (refusal) return refusal;
      emitStarted(batch, command, inputs);
      enterStep(batch, batch.definition.steps[0]?.id ?? '');
      return undefined;
    }
    case 'adopt':
      emitStarted(batch, command, {});
      batch.emit('run.adopted', { adopted: command.adopted });
      enterStep(batch, batch.definition.steps[0]?.id ?? '');
      return undefined;
    case 'import':
      if (!hasPosition(batch.definition, command.state)) {
        const given = String(command.state.step).slice(0, 80);
        return refuse('unknown_step', { why: 'import', given, workflow: batch.definition.name });
      }
      emitStarted(batch, command, command.inputs ?? {});
      batch.emit('run.imported', { state: command.state });
      if (command.state.status === 'running' && heldCount(batch.state) === 0) openLoop(batch);
      return undefined;
    default:
      return refuse('not_started', {});
  }
}

function emitStarted(
  batch: Batch,
  command: CommandOf<'start' | 'adopt' | 'import'>,
  inputs: Record<string, Scalar>,
): void {
  const { run, session, facts } = command;
  const summary = 'summary' in command ? shortSummary(command.summary) : undefined;
  const hash = 'hash' in command ? command.hash : undefined;
  const policy = 'boundaries' in command ? command.boundaries : undefined;
  const boundaries = policy ?? batch.definition.boundaries ?? 'prefer';
  const workflow = batch.definition.name;
  batch.emit('run.started', { run, workflow, inputs, boundaries, ...defined({ hash, summary }) });
  if (session !== undefined)
    batch.emit('session.started', { session, ...defined({ ...facts, owner: ownerOf(command) }) });
}

/** Trims the summary, and cuts it to 97 characters and an ellipsis if it is longer than 100. */
export function shortSummary(summary: string | undefined): string | undefined {
  const text = summary?.trim();
  if (!text) return undefined;
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type BadInput = Without<RefusalParams['bad_input'], 'workflow'>;

function readInputs(
  definition: Definition,
  inputs: Record<string, Scalar>,
): { inputs: Record<string, Scalar>; refusal?: Refusal } {
  const taken: Record<string, Scalar> = {};
  const refused = (problem: BadInput) => ({
    inputs: taken,
    refusal: refuse('bad_input', { workflow: definition.name, ...problem }),
  });
  const declared = definition.inputs ?? {};
  const names = Object.keys(declared);
  const unknown = Object.keys(inputs).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) {
    return refused({ why: 'unknown', name: unknown.slice(0, 80), inputs: names });
  }
  for (const [name, input] of Object.entries(declared)) {
    const value = own(inputs, name) ?? input.default;
    if (value === undefined && input.required) {
      return refused({ why: 'missing', name });
    }
    if (value === undefined) continue;
    const problem = inputProblem(input, value);
    if (problem) return refused({ name, ...problem });
    taken[name] = value;
  }
  return { inputs: taken };
}

function hasPosition(definition: Definition, saved: CommandOf<'import'>['state']): boolean {
  const step = definition.steps.find((candidate) => candidate.id === saved.step);
  if (!step || !saved.task) return step !== undefined;
  return subStepsOf(definition, step).some((sub) => sub.id === saved.subStep);
}
