import { existsSync } from 'node:fs';
import { gatesOf } from '../../definition/index.ts';
import {
  criticalArtifacts,
  type Definition,
  expandAt,
  type Position,
  requiredReading,
  type State,
} from '../../machine/index.ts';
import { containedFile, type Project } from '../../workspace/index.ts';
import type { Git } from './git.ts';

/** Files of the project that git would not bring to another machine. */
export interface UncommittedFiles {
  /** Files that the run names: its artifacts, reading and gates; ignored ones too. */
  needed: string[];
  /** The first of all others. */
  others: string[];
  total: number;
}

const mostOthers = 20;

export async function uncommittedFiles(
  git: Git,
  project: Project,
  { definition, state }: { definition: Definition; state: State },
): Promise<UncommittedFiles> {
  const named = neededFiles(definition, state).filter((path) => isHere(path, project));
  const prefix = (await git(['rev-parse', '--show-prefix'])).stdout.toString('utf8').trim();
  const changed = async (...args: string[]): Promise<string[]> => {
    const command = ['--no-optional-locks', '--literal-pathspecs', 'status', '--porcelain=v1', '-z'];
    const { code, stdout } = await git([...command, '--no-renames', ...args]);
    const lines = code === 0 ? stdout.toString('utf8').split('\0').filter(Boolean) : [];
    return lines.map((line) => line.slice(3 + prefix.length));
  };
  const needed =
    named.length === 0 ? [] : await changed('--untracked-files=all', '--ignored=matching', '--', ...named);
  const others = (await changed('--', '.')).filter((path) => !needed.includes(path));
  return { needed: needed.sort(), others: others.slice(0, mostOthers), total: others.length };
}

/** Every file that the run or its workflow names. */
function neededFiles(definition: Definition, state: State): string[] {
  const at = (position: Position, path: string): string => expandAt(definition, state, position, path);
  const here: Position = { step: state.step };
  const steps = definition.steps.flatMap((step) => {
    const { id, loop = id } = step;
    const tasks = Object.keys(state.tasks[loop]?.byId ?? {});
    const inLoop = step.type === 'loop' ? (definition.loops?.[loop] ?? []) : [];
    return [
      ...gatesOf(step).map((gate) => ({ gate, position: { step: id } })),
      ...inLoop
        .flatMap(gatesOf)
        .flatMap((gate) => tasks.map((task) => ({ gate, position: { step: id, task } }))),
    ];
  });
  const paths = [
    ...state.artefacts,
    ...Object.values(state.artifacts),
    ...(state.adopted ? [state.adopted.source] : []),
    ...requiredReading(definition, state).map((path) => at(here, path)),
    ...criticalArtifacts(definition).flatMap(({ path }) => (path === undefined ? [] : [at(here, path)])),
    ...steps.flatMap(({ gate: { exists, read = [] }, position }) =>
      [...(exists === undefined ? [] : [exists]), ...read].map((path) => at(position, path)),
    ),
  ];
  return [...new Set(paths.map((path) => path.replace(/^@/, '').replace(/^\{project_root\}\/?/, '')))];
}

function isHere(path: string, { worktree }: Project): boolean {
  const file = containedFile(worktree, path);
  return file !== undefined && existsSync(file);
}
