import { parseArgs } from 'node:util';

/** What the command line asks for, typed as its defaults. `names` are the words without dashes. */
export function options<Asked extends Record<string, number | string | boolean>>(
  defaults: Asked,
): Asked & { names: string[] } {
  const known = Object.entries(defaults).map(([name, value]) => {
    const type = typeof value === 'boolean' ? ('boolean' as const) : ('string' as const);
    return [name, { type }] as const;
  });
  const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(known) });
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof defaults[name] !== 'number') return [name, value];
    if (Number.isNaN(Number(value))) throw new Error(`--${name} needs a number, not '${value}'`);
    return [name, Number(value)];
  });
  return { ...defaults, ...Object.fromEntries(given), names: positionals };
}
