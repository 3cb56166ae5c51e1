import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { type Definition, own, type Scalar, type State } from '../machine/index.ts';
import { dryStart, type Move, type Player, random, sampleInputs, succeed, walk } from '../runtime/index.ts';
import { readPair, readValue } from './act/inputs.ts';
import { readArgs } from './args.ts';
import { createPrinter } from './dry-run/print.ts';
import { moveKeys, type ScriptedMove, scripted } from './dry-run/scripted.ts';
import { exit, notFound, usageError } from './exit.ts';
import type { Io } from './io.ts';
import { definitionOf } from './project.ts';

export function run(args: readonly string[], io: Io): number {
  const { values, positionals } = readArgs(
    args,
    {
      random: { type: 'boolean' },
      seed: { type: 'string' },
      script: { type: 'string' },
      tasks: { type: 'string' },
      input: { type: 'string', multiple: true },
      instructions: { type: 'boolean' },
      json: { type: 'boolean' },
    },
    { min: 1, max: 1, what: 'workflow' },
  );
  const definition = definitionOf(positionals[0] ?? '', io, 'simulated');
  const player = playerFor(values, io);
  const start = dryStart(definition, inputsFor(definition, values.input ?? []));
  const moves = walk(definition, start, player);
  const state = values.json ? printJson(definition, moves, io) : printWalk(definition, moves, io, values);
  const over =
    state && (state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled');
  return over ? exit.ok : exit.no;
}

function printWalk(
  definition: Definition,
  moves: Iterable<Move>,
  io: Io,
  values: { instructions?: boolean | undefined },
): State | undefined {
  const printer = createPrinter(io, { instructions: values.instructions === true });
  let last: Move | undefined;
  printer.heading(definition);
  for (const move of moves) {
    printer.print(move);
    last = move;
  }
  printer.summary(last?.response.state ?? undefined);
  return last?.response.state ?? undefined;
}

function printJson(definition: Definition, moves: Iterable<Move>, io: Io): State | undefined {
  const all = [...moves];
  const state = all.at(-1)?.response.state ?? undefined;
  const document = {
    workflow: definition.name,
    status: state?.status,
    moves: all.map(({ command, response: { events, reply }, notifications }) => ({
      command,
      events,
      reply,
      ...(notifications.length > 0 && { notifications }),
    })),
  };
  io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  return state;
}

function playerFor(
  values: {
    random?: boolean | undefined;
    seed?: string | undefined;
    script?: string | undefined;
    tasks?: string | undefined;
  },
  io: Io,
): Player {
  const tasks = integer(values.tasks, '--tasks', 2);
  if (tasks > 200) throw usageError('--tasks takes at most 200.');
  if (values.script !== undefined) return scripted(readScript(values.script, io), tasks);
  if (values.random || values.seed !== undefined) {
    const seed = integer(values.seed, '--seed', Math.floor(Math.random() * 1_000_000));
    if (values.seed === undefined) io.stderr.write(`To repeat this run: --seed ${seed}\n`);
    return random(seed, tasks);
  }
  return succeed(tasks);
}

function integer(text: string | undefined, flag: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw usageError(`${flag} takes an integer, not '${text}'.`);
  return Number(text);
}

/** Reads a YAML list with one move per entry. */
function readScript(file: string, io: Io): ScriptedMove[] {
  let moves: unknown;
  try {
    moves = parse(readFileSync(resolve(io.cwd, file), 'utf8'), { maxAliasCount: 0 });
  } catch (cause) {
    throw notFound(
      `Cannot read the script '${file}': ${cause instanceof Error ? cause.message : cause}`,
      cause,
    );
  }
  if (!Array.isArray(moves)) throw usageError(`The script '${file}' is not a list of moves.`);
  return moves.map((move, index) => {
    const keys = move !== null && typeof move === 'object' ? Object.keys(move) : [];
    if (keys.filter((key) => moveKeys.some((known) => known === key)).length !== 1) {
      throw usageError(`Move ${index + 1} of '${file}' must have one of: ${moveKeys.join(', ')}.`);
    }
    const wrong = keys.find((key) => !fitsMove(key, move[key]));
    if (wrong !== undefined)
      throw usageError(`Move ${index + 1} of '${file}': invalid value for '${wrong}'.`);
    // Validated above.
    return move as ScriptedMove;
  });
}

function fitsMove(key: string, value: unknown): boolean {
  if (key === 'tasks') return Array.isArray(value) && value.every((id) => typeof id === 'string');
  if (key === 'spend') return typeof value === 'number';
  return key === 'status' || typeof value === 'string';
}

/** Missing inputs get their default or a placeholder. */
function inputsFor(definition: Definition, given: readonly string[]): Record<string, Scalar> {
  const { inputs = {}, name: workflow } = definition;
  const values = Object.fromEntries(
    given.map(readPair).map(([name, text]) => {
      const input = own(inputs, name);
      if (!input) throw usageError(`'${workflow}' has no input '${name}'.`);
      return [name, readValue(name, text, input.type)] as const;
    }),
  );
  return { ...sampleInputs(definition), ...values };
}
