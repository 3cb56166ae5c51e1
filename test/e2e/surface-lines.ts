/** Names of commands in the overview, and the exit statuses that it lists. */
export const commandsIn = (overview: string): string[] => firsts(overview, /^ {2}([a-z][a-z-]*) {2,}\S/gm);
export const exitsIn = (overview: string): string[] => firsts(overview, /^ {2}(\d+) {2,}\S/gm);

/** `cli NAME` or, for the program itself, `cli`, then its subcommands and its options, from its help. */
export function commandLines(command: string, help: string): string[] {
  const flags = [...help.matchAll(/^ {2}(-[^ ,]+)(?:, (-[^ ]+))?( <[^>]+>)?(?: {2,}|$)/gm)];
  return [
    command,
    ...subcommandsIn(help).map((subcommand) => `${command} ${subcommand}`),
    ...flags.flatMap(([, first, second, value]) =>
      [first, second].flatMap((flag) =>
        flag === undefined ? [] : [`${command} ${flag}${value === undefined ? '' : ' <value>'}`],
      ),
    ),
  ];
}

/** `stepfast token create <name> | list` has two. What is in brackets is an option or an argument. */
function subcommandsIn(help: string): string[] {
  const usage = /^Usage:? +(?:(?:npx )?stepfast|node (?:"[^"]+"|[^ ]+)) [^ ]+ (.+)$/m.exec(help)?.[1] ?? '';
  return firsts(usage.replace(/\[[^\]]*\]|<[^>]*>/g, '_'), /(?:^|\| )([a-z][a-z-]*)/g);
}

const firsts = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, first = '']) => first);

/** The part of JSON Schema that has names and values in it. */
export interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** Every property by its path, and every value that is listed. */
export function schemaLines(prefix: string, schema: Schema): string[] {
  const visit = (at: string, each: Schema, refs: readonly string[]): string[] => {
    const { properties = {}, items, additionalProperties: others, $ref } = each;
    const values = [...(each.enum ?? []), ...('const' in each ? [each.const] : [])];
    const named =
      $ref === undefined || refs.includes($ref) ? undefined : schema.$defs?.[$ref.replace('#/$defs/', '')];
    return [
      ...values.map((value) => `${prefix} ${at} = ${value}`),
      ...Object.entries(properties).flatMap(([name, inner]) => {
        const path = at === '' ? name : `${at}.${name}`;
        return [`${prefix} ${path}`, ...visit(path, inner, refs)];
      }),
      ...(items ? visit(`${at}[]`, items, refs) : []),
      ...(typeof others === 'object' ? visit(`${at}.*`, others, refs) : []),
      ...[each.anyOf, each.oneOf, each.allOf]
        .flatMap((parts) => parts ?? [])
        .flatMap((part) => visit(at, part, refs)),
      ...(named && $ref !== undefined ? visit(at, named, [...refs, $ref]) : []),
    ];
  };
  return visit('', schema, []);
}

/** Names that a declaration file exports; `follow` reads the one that `export *` names. */
export function exportsIn(text: string, follow: (path: string) => string[]): string[] {
  const lists = firsts(text, /^export (?:type )?\{([^}]*)\}/gm).flatMap((list) => list.split(','));
  return [
    ...lists.flatMap((item) => /(\w+)\s*$/.exec(item)?.[1] ?? []),
    ...firsts(
      text,
      /^export (?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum|namespace) (\w+)/gm,
    ),
    ...firsts(text, /^export (?:type )?\* from ['"]([^'"]+)['"]/gm).flatMap(follow),
  ];
}
