import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { nearest } from '../suggest.ts';
import { usageError } from './exit.ts';

type Parsed<T extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/** Throws a usage error that names the problem and suggests the closest option. */
export function readArgs<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  limits: { min?: number; max?: number; what?: string } = {},
): Parsed<T> {
  const parsed = parse(args, options);
  const { min = 0, max = Number.POSITIVE_INFINITY, what = 'argument' } = limits;
  const given = parsed.positionals.length;
  if (given < min) throw usageError(`No ${what} is given.`);
  if (given > max) throw usageError(`'${parsed.positionals[max]}' is an unexpected argument.`);
  return parsed;
}

function parse<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T): Parsed<T> {
  try {
    const hidden = args.map((arg) => (/^-+\s/.test(arg) ? mark + arg : arg));
    const parsed = parseArgs({ args: hidden, options, allowPositionals: true, strict: true });
    const values = Object.entries(parsed.values).map(([name, value]) => [name, shown(value)]);
    // Same shape: only the marks were removed.
    return {
      ...parsed,
      values: Object.fromEntries(values),
      positionals: shown(parsed.positionals),
    } as Parsed<T>;
  } catch (error) {
    throw usageError(explain(error, Object.keys(options)));
  }
}

/** Prefixed to text such as `- [ ] buy milk`, which looks like an option. */
const mark = '\0';

function shown(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? value.slice(mark.length) : value;
  return Array.isArray(value) ? value.map(shown) : value;
}

function explain(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return `${message.split(/[\n.]/, 1)[0]}.`;
  const meant = nearest(unknown.replace(/^-+/, ''), names);
  return `There is no option '${unknown}'.${meant === undefined ? '' : ` Did you mean '--${meant}'?`}`;
}
