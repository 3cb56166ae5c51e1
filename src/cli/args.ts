import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { nearest } from '../suggest.ts';
import { usageError } from './exit.ts';

type Parsed<T extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/** Throws a usage error that names what is wrong and, where it can, what was meant. */
export function readArgs<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  limits: { min?: number; max?: number; what?: string } = {},
): Parsed<T> {
  const parsed = parse(args, options);
  const { min = 0, max = Number.POSITIVE_INFINITY, what = 'argument' } = limits;
  const given = parsed.positionals.length;
  if (given < min) throw usageError(`No ${what} is given.`);
  if (given > max) throw usageError(`'${parsed.positionals[max]}' is one argument too many.`);
  return parsed;
}

function parse<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T): Parsed<T> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageError(explain(error, Object.keys(options)));
  }
}

function explain(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return `${message.split(/[\n.]/, 1)[0]}.`;
  const meant = nearest(unknown.replace(/^-+/, ''), names);
  return `There is no option '${unknown}'.${meant === undefined ? '' : ` Did you mean '--${meant}'?`}`;
}
