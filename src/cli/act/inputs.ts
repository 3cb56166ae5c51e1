import type { Definition, Scalar } from '../../machine/index.ts';
import { nearest } from '../../suggest.ts';
import { usageError } from '../exit.ts';

type InputType = 'string' | 'number' | 'boolean' | undefined;

/** `name=value` pairs as values of the types that the workflow declares. Throws usage errors. */
export function readInputs(definition: Definition, pairs: readonly string[]): Record<string, Scalar> {
  const declared = definition.inputs ?? {};
  return Object.fromEntries(
    pairs.map(readPair).map(([name, text]) => {
      if (!Object.hasOwn(declared, name)) throw unknownInput(definition.name, name, Object.keys(declared));
      return [name, readValue(name, text, declared[name]?.type)];
    }),
  );
}

function unknownInput(workflow: string, name: string, names: readonly string[]): Error {
  const meant = nearest(name, names);
  const has = names.length === 0 ? 'It has no inputs.' : `Its inputs: ${names.join(', ')}.`;
  return usageError(
    `'${workflow}' has no input '${name}'. ${meant === undefined ? has : `Did you mean '${meant}'?`}`,
  );
}

export function readPair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  if (equals < 1) throw usageError(`--input takes name=value, not '${pair}'.`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

export function readValue(name: string, text: string, type: InputType): Scalar {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'number' || type === 'boolean')
    throw usageError(`The input '${name}' is a ${type}, not '${text}'.`);
  return text;
}
