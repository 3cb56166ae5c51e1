import { StepfastError } from '../../errors.ts';
import { field, type Role } from './message.ts';

const roles: readonly string[] = ['system', 'user', 'assistant', 'tool'] satisfies Role[];

/** Throws `bad_option`: an invalid option of untyped code would otherwise fail only in a later call. */
export function checkOptions(options: unknown): void {
  const refuse = argumentError('bad_option', 'createContextWindow');
  if (!isObject(options)) throw refuse('options', options, '{ systemPrompt }');
  const systemPrompt = field(options, 'systemPrompt');
  if (typeof systemPrompt !== 'string') throw refuse('systemPrompt', systemPrompt, 'a string');
  for (const name of ['summarise', 'onCompacted', 'countTokens']) {
    const given = field(options, name);
    if (given !== undefined && typeof given !== 'function') throw refuse(name, given, 'a function');
  }
  const files = field(options, 'fileTokens');
  if (files !== undefined && !(typeof files === 'number' && files >= 0))
    throw refuse('fileTokens', files, 'a number of tokens');
}

/** Throws `bad_message` with the name of the call and the path of the invalid value. */
export function checkMessage(message: unknown, call: string, path?: string): void {
  const refuse = argumentError('bad_message', call);
  if (!isObject(message)) throw refuse(path ?? 'message', message, 'a message { role, content }');
  const within = path === undefined ? '' : `${path}.`;
  const role = field(message, 'role');
  if (typeof role !== 'string' || !roles.includes(role))
    throw refuse(`${within}role`, role, `one of ${roles.join(', ')}`);
  const content = field(message, 'content');
  if (typeof content === 'string' || content === null) return;
  if (!Array.isArray(content))
    throw refuse(`${within}content`, content, 'a string, an array of parts, or null');
  const bad = content.findIndex((part) => !isObject(part));
  if (bad >= 0) throw refuse(`${within}content[${bad}]`, content[bad], 'a part { type, ... }');
}

const argumentError =
  (code: string, call: string) =>
  (name: string, given: unknown, wanted: string): StepfastError =>
    new StepfastError(code, `${call}: ${name} is ${describe(given)}: pass ${wanted}`, {
      data: { call, argument: name },
    });

function describe(given: unknown): string {
  if (given === null || given === undefined || Number.isNaN(given)) return String(given);
  if (typeof given === 'string') return `'${given.slice(0, 40)}'`;
  if (Array.isArray(given)) return 'an array';
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
