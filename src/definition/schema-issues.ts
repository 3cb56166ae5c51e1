import * as z from 'zod';
import { workflowSchema } from '../schema/index.ts';
import { didYouMean, nearest } from '../suggest.ts';
import {
  child,
  descend,
  type MapNode,
  type Node,
  type Report,
  type ScalarNode,
  textOf,
} from './yaml-tree.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Far more than is shown; the schema itself reports one for each value of a hostile file. */
const maxIssues = 1000;

/** Says what the schema found in the words of the file, at the place where it is written. */
export function reportIssues(root: MapNode, issues: readonly Issue[], report: Report): void {
  // A limit that was passed is what the other issues come from, so it is never among those left out.
  const first = [...issues.filter(isLimit), ...issues.filter((issue) => !isLimit(issue))];
  for (const issue of first.slice(0, maxIssues)) reportIssue(root, issue, report);
}

/** A list has more entries than any workflow needs: nothing more is worth checking in it. */
export const isLimit = (issue: Issue): boolean => issue.code === 'too_big' && issue.origin === 'array';

function reportIssue(root: MapNode, issue: Issue, report: Report): void {
  const found = descend(root, issue.path);
  const subject = nameOf(root, issue.path);
  if (found.rest > 0 && issue.code !== 'unrecognized_keys') {
    if (misspelt(found.node, issue.path)) return;
    const owner = issue.path.length === 1 ? 'The workflow' : nameOf(root, issue.path.slice(0, -1));
    report(
      'error',
      'missing_key',
      found.node,
      `${owner} needs '${String(issue.path.at(-1))}'`,
      missingAdvice(issue.path),
    );
    return;
  }
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(issue.path);
      for (const key of issue.keys) {
        const place =
          found.node.kind === 'map' ? (found.node.entries.get(key)?.key ?? found.node) : found.node;
        const where = issue.path.length === 0 ? '' : ` in ${lowerFirst(subject)}`;
        report(
          'error',
          'unknown_key',
          place,
          `Unknown key '${shorten(key)}'${where}`,
          () => didYouMean(key, known) ?? `Known keys: ${known.join(', ')}.`,
        );
      }
      return;
    }
    case 'invalid_key': {
      const key = String(issue.path.at(-1));
      const place = found.entry?.key ?? found.node;
      report('error', 'bad_id', place, `'${shorten(key)}' is not an id`, idAdvice);
      return;
    }
    case 'invalid_type':
      report(
        'error',
        'wrong_type',
        found.node,
        `${subject} must be ${kinds[issue.expected] ?? issue.expected}, got ${show(found.node)}`,
        shorthandAdvice(issue.path, found.node) ?? typeAdvice(issue.expected, found.node),
      );
      return;
    case 'invalid_value': {
      const values = issue.values.map(String);
      const text = textOf(found.node);
      report(
        'error',
        'wrong_value',
        found.node,
        `${subject} must be ${oneOf(values)}, got ${show(found.node)}`,
        () => (text === undefined ? undefined : didYouMean(text, values)) ?? `Write ${values.join(' or ')}.`,
      );
      return;
    }
    case 'invalid_union': {
      const meant = branchOf(issue, found.node);
      for (const each of meant ?? [])
        reportIssue(root, { ...each, path: [...issue.path, ...each.path] }, report);
      if (meant) return;
      report(
        'error',
        'wrong_type',
        found.node,
        `${subject} must be a text, a number, true or false, got ${show(found.node)}`,
      );
      return;
    }
    case 'too_small':
    case 'too_big':
      report('error', 'out_of_range', found.node, `${subject} ${range(issue)}`);
      return;
    case 'invalid_format':
      reportFormat(issue.path, found.node, subject, report);
      return;
    default:
      report('error', 'wrong_value', found.node, `${subject} is not valid`);
  }
}

/** What the schema says to a word, or to a map, where it takes either. */
const branchOf = ({ errors }: z.core.$ZodIssueInvalidUnion, { kind }: Node): Issue[] | undefined =>
  kind === 'map'
    ? errors.find((issues) =>
        issues.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
      )
    : errors.find((issues) => issues.some(({ code }) => code === 'invalid_value'));

/** The key is there in another spelling, which is reported by itself. */
function misspelt(node: Node, path: Path): boolean {
  if (node.kind !== 'map') return false;
  const known = keysAt(path.slice(0, -1));
  const key = String(path.at(-1));
  return [...node.entries.keys()].some((written) => !known.includes(written) && nearest(written, [key]));
}

function reportFormat(path: Path, node: Node, subject: string, report: Report): void {
  if (path.includes('reload_triggers')) {
    report(
      'error',
      'bad_trigger',
      node,
      `${subject} is not a reload trigger: ${show(node)}`,
      triggerAdvice(textOf(node) ?? ''),
    );
  } else if (path.at(-1) === 'path_from_state') {
    report(
      'error',
      'bad_path',
      node,
      `${subject} must be keys of state.json joined by dots, got ${show(node)}`,
      'Write for instance artifacts.spec_path.',
    );
  } else if (path.length === 1) {
    report('error', 'wrong_value', node, `${subject} must be one line without slashes, got ${show(node)}`);
  } else {
    report('error', 'bad_id', node, `${subject} is not an id: ${show(node)}`, idAdvice);
  }
}

const triggerNames = ['session_start', 'manual', 'phase_transition', 'phase_start'];
const idAdvice = 'Use letters, digits, - and _, at most 64, a letter or digit first.';

function triggerAdvice(trigger: string): string {
  const [head = '', ...rest] = trigger.split(':');
  return (
    (rest.length === 0 || !triggerNames.includes(head) ? didYouMean(head, triggerNames) : undefined) ??
    'Write session_start, phase_start:X, phase_transition, phase_transition:A->B or manual.'
  );
}

function missingAdvice(path: Path): string | undefined {
  const key = path.at(-1);
  if (key === 'type' && path[0] === 'steps') return 'Write type: action, loop or ralph.';
  if (key === 'instructions') return 'Say what the agent is to do.';
  return undefined;
}

function typeAdvice(expected: string, node: Node): string | undefined {
  if (node.kind === 'scalar' && node.value === null) return 'Fill it in, or remove the key.';
  if (expected === 'string' && node.kind === 'map')
    return 'A text that begins with { or holds a colon goes in quotes, or after |.';
  if (expected === 'string')
    return node.kind === 'scalar' ? `Put it in quotes: "${written(node)}"` : undefined;
  if (expected === 'array') return 'Begin each entry with - on its own line.';
  if (expected === 'boolean') return 'Write true or false.';
  if (expected === 'int') return 'Write a whole number, without quotes or unit.';
  if (expected === 'number') return 'Write a plain number, without quotes or unit.';
  return undefined;
}

/** As the author wrote it: 1.10 is not 1.1. */
const written = (node: ScalarNode): string => node.source.text.slice(node.offset, node.end).trim();

/** What stands for a whole map or list is often its most important part. */
function shorthandAdvice(path: Path, node: Node): string | undefined {
  const text = textOf(node);
  const key = path.findLast((part) => typeof part === 'string');
  if (key === 'notify' && path.length === 1)
    return `Write notify: [${text === undefined ? 'waiting, ended' : shorten(text)}]. A command or a webhook belongs in the configuration of the user.`;
  if (text === undefined) return undefined;
  if (key === 'review') return `Write review: { by: ${shorten(text)} }`;
  if (key === 'gate' || key === 'until') return `Write ${key}: [{ run: ${JSON.stringify(shorten(text))} }]`;
  return undefined;
}

/** What a path is called in a message: `Step 'plan' context`, `Sub-step 'verify' of loop 'build' on_fail`, `agents.coder.tools[0]`. */
function nameOf(root: Node, path: Path): string {
  const [first, second, third] = path;
  if (first === 'steps' && typeof second === 'number') {
    return withRest(`Step ${quoted(idAt(root, path.slice(0, 2)) ?? `#${second + 1}`)}`, path.slice(2));
  }
  if (first === 'loops' && typeof second === 'string' && typeof third === 'number') {
    const id = idAt(root, path.slice(0, 3)) ?? `#${third + 1}`;
    return withRest(`Sub-step ${quoted(id)} of loop ${quoted(second)}`, path.slice(3));
  }
  if (first === 'critical_artifacts' && typeof third === 'number') {
    const id = idAt(root, path.slice(0, 3)) ?? `#${third + 1}`;
    return withRest(`Critical artifact ${quoted(id)}`, path.slice(3));
  }
  return path.length === 0 ? 'The workflow' : dotted(path);
}

const idAt = (root: Node, path: Path): string | undefined => {
  const { node, rest } = descend(root, path);
  return rest > 0 ? undefined : textOf(child(node, 'id'));
};

const withRest = (head: string, rest: Path): string => (rest.length === 0 ? head : `${head} ${dotted(rest)}`);

const dotted = (path: Path): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text === ''
          ? shorten(String(part))
          : `${text}.${shorten(String(part))}`,
    '',
  );

const quoted = (text: string): string => `'${shorten(text)}'`;
const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
const lowerFirst = (text: string): string =>
  /^(?:Step|Sub-step|Critical) /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function show(node: Node): string {
  if (node.kind === 'list') return 'a list';
  if (node.kind === 'map') return 'a map';
  if (node.value === null) return 'nothing';
  return typeof node.value === 'string' ? quoted(node.value.replaceAll('\n', ' ')) : String(node.value);
}

const oneOf = (values: readonly string[]): string => {
  const all = values.map((value) => `'${value}'`);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
};

function range(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const small = issue.code === 'too_small';
  const limit = String(small ? issue.minimum : issue.maximum);
  if (issue.origin === 'array') return small ? 'is an empty list' : `has more than ${limit} entries`;
  if (issue.origin === 'string') return small ? 'is empty' : `is longer than ${limit} characters`;
  return small ? `must be at least ${limit}` : `must be at most ${limit}`;
}

/** The keys that the schema knows at a path; none where it expects no map with fixed keys. */
function keysAt(path: Path): string[] {
  let schema: z.core.$ZodType = workflowSchema;
  for (const part of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) schema = inner.shape[String(part)] ?? z.unknown();
    else if (inner instanceof z.ZodArray) schema = inner.element;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType;
    else return [];
  }
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodExactOptional) return unwrap(schema.unwrap());
  if (!(schema instanceof z.ZodUnion)) return schema;
  return schema.options.find((option) => option instanceof z.ZodObject) ?? schema;
}
