import { type SchemaProblem, schemaKeywords, schemaProblem } from '../machine/index.ts';
import { didYouMean } from '../suggest.ts';
import type { Checked } from './check-steps.ts';
import {
  child,
  entries,
  items,
  keyLocation,
  type MapNode,
  maps,
  type Node,
  type Report,
  textOf,
  toPlain,
} from './yaml-tree.ts';

/** `output` and `schema`: what the outputs of steps must be. */
export function checkFormat({ root, report }: Checked): void {
  const subSteps = entries(child(root, 'loops')).flatMap(([, { value }]) => maps(value));
  for (const work of [...maps(child(root, 'steps')), ...subSteps]) {
    const schema = child(work, 'schema');
    if (textOf(child(work, 'type')) === 'loop') refuseLoop(work, report);
    else if (schema && textOf(child(work, 'output')) !== 'json')
      report(
        'error',
        'schema_without_json',
        keyLocation(work, 'schema'),
        "'schema' needs 'output: json'",
        'Write output: json beside it.',
      );
    const problem = schema?.kind === 'map' ? schemaProblem(toPlain(schema)) : undefined;
    if (schema && problem) reportProblem(schema, problem, report);
  }
}

function refuseLoop(step: MapNode, report: Report): void {
  for (const key of ['output', 'schema'].filter((each) => step.entries.has(each)))
    report(
      'error',
      'not_on_loop',
      keyLocation(step, key),
      `Step '${textOf(child(step, 'id')) ?? ''}' is a loop and cannot have '${key}'`,
      `Put '${key}' on its sub-steps.`,
    );
}

function reportProblem(schema: Node, { path, keyword, why }: SchemaProblem, report: Report): void {
  const place = path.reduce<Node>((node, key) => inside(node, key) ?? node, schema);
  if (why === 'too_large')
    return report(
      'error',
      'bad_schema',
      place,
      'The schema has over 500 parts',
      'Check less, or with a gate.',
    );
  if (why === 'value') {
    const what =
      keyword === undefined ? 'A schema must be a map' : `The value of '${keyword}' cannot be used`;
    return report('error', 'bad_schema', place, what, 'See docs/workflow.md for what a schema may say.');
  }
  const known = `Known are ${schemaKeywords.join(', ')}; check the rest with a gate.`;
  const suggestion = (): string =>
    [didYouMean(keyword ?? '', schemaKeywords), known].filter(Boolean).join(' ');
  report('error', 'bad_schema', place, `'${keyword}' is not known in a schema`, suggestion);
}

const inside = (node: Node, key: string | number): Node | undefined =>
  typeof key === 'number' ? items(node)[key] : child(node, key);
