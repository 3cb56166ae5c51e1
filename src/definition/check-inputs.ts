import { inputProblem, patternProblem } from '../machine/index.ts';
import { inputSchema } from '../schema/index.ts';
import {
  child,
  entries,
  items,
  keyLocation,
  type MapNode,
  type Node,
  type Report,
  type ScalarNode,
  textOf,
  toPlain,
} from './yaml-tree.ts';

export function checkInputs(root: MapNode, report: Report): void {
  const variables = new Map<string, string>();
  for (const [name, { key, value }] of entries(child(root, 'inputs'))) {
    const variable = name.toUpperCase().replaceAll('-', '_');
    const other = variables.get(variable);
    if (other !== undefined) {
      report(
        'error',
        'input_clash',
        key,
        `Inputs '${other}' and '${name}' would both be STEPFAST_INPUT_${variable}`,
        'Rename one of them.',
      );
    }
    variables.set(variable, name);
    if (value.kind === 'map') checkInput(name, value, report);
  }
}

function checkInput(name: string, input: MapNode, report: Report): void {
  const type = textOf(child(input, 'type')) ?? 'string';
  if (!['string', 'number', 'boolean'].includes(type)) return;
  const ofType = (node: Node | undefined, key: string): boolean => {
    if (node?.kind !== 'scalar' || node.value === null) return false;
    if (typeof node.value === type) return true;
    const message = `inputs.${name}.${key} must be a ${type}, got ${String(node.value)}`;
    report('error', 'wrong_type', node, message, typeAdvice(type, key, node));
    return false;
  };
  const allowed = items(child(input, 'enum'));
  const areOfType = allowed.map((node, index) => ofType(node, `enum[${index}]`)).every(Boolean);
  const given = child(input, 'default');
  if (!ofType(given, 'default') && given !== undefined) return;
  if (!areOfType || !checkPattern(name, type, input, report)) return;
  // What the schema refuses is reported by itself.
  const parsed = inputSchema.safeParse(toPlain(input));
  if (!parsed.success) return;
  const { default: value, ...rules } = parsed.data;
  const { enum: _, ...form } = rules;
  for (const [index, node] of allowed.entries()) {
    const each = parsed.data.enum?.[index];
    if (each !== undefined && inputProblem(form, each))
      report(
        'error',
        'wrong_value',
        node,
        `inputs.${name}.enum[${index}] does not match the pattern`,
        'Change one of them.',
      );
  }
  const problem = value === undefined ? undefined : inputProblem(rules, value);
  if (!given || !problem) return;
  const isListed = problem.why === 'not_allowed';
  report(
    'error',
    'wrong_default',
    given,
    `inputs.${name}.default is ${isListed ? "not in 'enum'" : "refused by 'pattern'"}, so no run could start with it`,
    isListed
      ? `Write one of ${problem.allowed.slice(0, 20).join(', ')}.`
      : "Write a default that matches, or change 'pattern'.",
  );
}

const typeAdvice = (type: string, key: string, { value }: ScalarNode): string =>
  type === 'string'
    ? `Put it in quotes: "${String(value)}"`
    : `Write type: ${typeof value}, or another ${key === 'default' ? 'default' : 'value'}.`;

/** Whether values can be held against it. */
function checkPattern(name: string, type: string, input: MapNode, report: Report): boolean {
  const node = child(input, 'pattern');
  const pattern = textOf(node);
  if (node === undefined || pattern === undefined) return true;
  if (type !== 'string') {
    report(
      'error',
      'only_with_string',
      keyLocation(input, 'pattern'),
      `'pattern' belongs to an input of type string, and '${name}' is a ${type}`,
      "Remove 'pattern', or write type: string.",
    );
    return false;
  }
  const problem = patternProblem(pattern);
  // Reported by the schema.
  if (problem === 'too_long') return false;
  if (problem === 'syntax')
    report(
      'error',
      'bad_pattern',
      node,
      `inputs.${name}.pattern is no regular expression of JavaScript (with the flag u)`,
      'Escape ( ) [ ] { } with a backslash where they stand for themselves.',
    );
  if (problem === 'unsafe')
    report(
      'error',
      'unsafe_pattern',
      node,
      `inputs.${name}.pattern cannot be matched in a limited time`,
      'Leave out (?=…), (?!…), (?<=…), (?<!…), \\1, \\k<…> and \\b, and repeat less: it matches the whole value anyway.',
    );
  return problem === undefined;
}
