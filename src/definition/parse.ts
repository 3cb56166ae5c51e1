import { basename, extname } from 'node:path';
import type { Definition } from '../machine/index.ts';
import { type Authored, workflowSchema } from '../schema/index.ts';
import { nearest } from '../suggest.ts';
import { type CheckTool, checkAgents } from './check-agents.ts';
import { checkArtifacts } from './check-artifacts.ts';
import { checkFormat } from './check-format.ts';
import { checkGates } from './check-gates.ts';
import { checkInputs } from './check-inputs.ts';
import { matchLoops } from './check-loops.ts';
import { checkPlaceholders } from './check-placeholders.ts';
import { type Checked, checkSteps } from './check-steps.ts';
import { checkTasks } from './check-tasks.ts';
import { checkWorktree } from './check-worktree.ts';
import { createCollector, type Diagnostic } from './diagnostics.ts';
import { hashDefinition } from './hash-definition.ts';
import { type FindBase, mergeExtends } from './merge-extends.ts';
import { isLimit, reportIssues } from './schema-issues.ts';
import { artifactDefaults, stepDefaults, subStepDefaults } from './write-defaults.ts';
import { readTree } from './yaml.ts';
import {
  child,
  createSource,
  entries,
  items,
  keyLocation,
  type MapNode,
  maps,
  type Report,
  textOf,
  toPlain,
} from './yaml-tree.ts';

export interface ParseOptions {
  /** How diagnostics name the text. */
  file: string;
  findBase?: FindBase;
  /** Reads the text as something that others extend: it needs no steps, and may refer to steps that they add. */
  base?: boolean;
  /** Judges the names of tools; without it any name may be right. */
  checkTool?: CheckTool | undefined;
}

export interface ParseResult {
  /** Present when there is no error. */
  definition?: Definition;
  hash?: string;
  diagnostics: Diagnostic[];
}

/** Pure and total: never throws, whatever the text; all errors at once, sorted by position. */
export function parseWorkflow(text: string, options: ParseOptions): ParseResult {
  const { report, arranged } = createCollector();
  const definition = resolve(text, options, report);
  const diagnostics = arranged(options.file);
  const failed = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  if (definition === undefined || failed) return { diagnostics };
  return { definition, hash: hashDefinition(definition), diagnostics };
}

function resolve(text: string, options: ParseOptions, report: Report): Definition | undefined {
  const tree = readTree(createSource(options.file, text), report);
  if (tree === undefined) return undefined;
  const { tree: root, whole } = mergeExtends(tree, options.findBase, report);
  const parsed = workflowSchema.safeParse(toPlain(root));
  // What seems to be missing may stand in a base that was not found.
  const judge: Report = (severity, code, ...rest) => {
    if (whole || code !== 'missing_key') report(severity, code, ...rest);
  };
  if (!parsed.success) reportIssues(root, parsed.error.issues, judge);
  // The other checks are for a file of a size that the schema accepts.
  if (!whole || parsed.error?.issues.some(isLimit)) return undefined;
  // Not of a definition that a run has pinned: names of tools change with the host.
  if (options.checkTool) checkAgents(root, options.checkTool, report);
  const loops = checkReferences(root, options.base === true, report);
  if (!parsed.success) return undefined;
  const { name = options.base ? basename(options.file, extname(options.file)) : undefined } = parsed.data;
  return complete({ ...parsed.data, name }, loops);
}

/** What spans several keys; answers which loop each loop step goes over. */
export function checkReferences(root: MapNode, base: boolean, report: Report): Map<string, string> {
  const types = maps(child(root, 'steps')).flatMap((step): [string, string][] => {
    const id = textOf(child(step, 'id'));
    return id === undefined ? [] : [[id, textOf(child(step, 'type')) ?? '']];
  });
  const checked: Checked = {
    root,
    stepIds: new Set(types.map(([id]) => id)),
    stepTypes: new Map(types),
    loops: new Set([
      ...types.flatMap(([id, type]) => (type === 'loop' ? id : [])),
      ...entries(child(root, 'loops')).map(([id]) => id),
    ]),
    inputs: new Set(entries(child(root, 'inputs')).map(([name]) => name)),
    report,
    reference: base ? (_, ...rest) => report('warning', ...rest) : report,
  };
  checkHead(root, base, report);
  checkSteps(checked);
  checkInputs(root, report);
  checkTasks(checked);
  checkFormat(checked);
  checkWorktree(checked);
  checkGates(checked);
  checkPlaceholders(checked);
  checkArtifacts(checked);
  return matchLoops(checked);
}

const known = new Set(Object.keys(workflowSchema.shape));

function checkHead(root: MapNode, base: boolean, report: Report): void {
  const has = (key: string): boolean =>
    [...root.entries.keys()].some(
      (written) => written === key || (!known.has(written) && nearest(written, [key])),
    );
  if (!base && !has('name')) {
    report(
      'error',
      'missing_key',
      root,
      "The workflow needs 'name'",
      'Write name: and the word that starts it.',
    );
  }
  const steps = child(root, 'steps');
  const none = steps === undefined ? !has('steps') : steps.kind === 'list' && items(steps).length === 0;
  if (!base && none) {
    report(
      'error',
      'no_steps',
      keyLocation(root, 'steps'),
      'The workflow has no steps, so it can only be a base for `extends`',
      'Add steps, or write extends: in another file.',
    );
  }
  if (!base && !has('description')) {
    report(
      'warning',
      'no_description',
      root,
      'The workflow has no description',
      'Say in one line what it is for.',
    );
  }
}

function complete(
  authored: Omit<Authored, 'name'> & { name: string | undefined },
  loopOf: ReadonlyMap<string, string>,
): Definition | undefined {
  const {
    extends: _extends,
    remove: _remove,
    phases: _phases,
    id: _id,
    name,
    description,
    loops,
    steps = [],
    critical_artifacts: artifacts,
    ...rest
  } = authored;
  if (name === undefined) return undefined;
  return {
    name,
    description: description ?? name,
    ...rest,
    ...(artifacts === undefined ? {} : { critical_artifacts: artifactDefaults(artifacts) }),
    ...(loops === undefined ? {} : { loops: resolvedLoops(loops) }),
    steps: steps.map(({ after: _after, type: written, ...step }) => {
      const type = written === 'run' ? 'action' : written;
      const loop = type === 'loop' ? loopOf.get(step.id) : undefined;
      return { ...stepDefaults({ ...step, type }), ...(loop === undefined ? {} : { loop }) };
    }),
  };
}

/** `after` has done its work when the lists are merged; `run` says what `type: run` says. */
function resolvedLoops(loops: NonNullable<Authored['loops']>): NonNullable<Definition['loops']> {
  return Object.fromEntries(
    Object.entries(loops).map(([id, subSteps]) => [
      id,
      subSteps.map(({ after: _after, type: _type, ...subStep }) => subStepDefaults(subStep)),
    ]),
  );
}
