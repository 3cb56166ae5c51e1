import { closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Adopted } from '../../machine/index.ts';
import { containedFile, type Project, portable } from '../../workspace/index.ts';
import {
  describedByMarkers,
  describedByPlan,
  isPlanComplete,
  missingMarkers,
  type WorkflowDescription,
} from './parse-informal-workflow.ts';
import { describedByState } from './parse-state-file.ts';

export interface InformalWorkflow extends WorkflowDescription {
  /** From the project's root, the same on every machine. */
  source: string;
}

type ProjectPaths = Pick<Project, 'root' | 'worktree'>;

const local = 'CLAUDE.local.md';
const plans = join('CLAUDE', 'Plan');
const states = join('untracked', 'workflow-state');
const maxBytes = 256 * 1024;
const mostFiles = 50;

/** Costs three file system calls. */
const mayBeInformal = ({ worktree }: ProjectPaths): boolean =>
  [states, local, plans].some(
    (path) => lstatSync(join(worktree, path), { throwIfNoEntry: false }) !== undefined,
  );

/**
 * Informal workflows of a worktree: state files that agents keep, `CLAUDE.local.md`, plans in progress; the newest
 * first. Never throws.
 */
export function findInformal(place: ProjectPaths): InformalWorkflow[] {
  try {
    if (!mayBeInformal(place)) return [];
    const own = byMarkers(place, local);
    return [
      ...findStateFiles(place),
      ...(own ? [own] : []),
      ...planFiles(place).flatMap((path) => byPlan(place, path) ?? []),
    ];
  } catch {
    // A file that was removed or cannot be read counts as absent.
    return [];
  }
}

/** Only the state files that agents keep, `untracked/workflow-state/NAME/state-NAME-START.json`. Never throws. */
export function findStateFiles(place: ProjectPaths): InformalWorkflow[] {
  try {
    const paths = namesIn(place, states).flatMap((name) =>
      namesIn(place, join(states, name))
        .filter((file) => /^state-.*\.json$/.test(file))
        .map((file) => join(states, name, file)),
    );
    return newest(place, paths).flatMap((path) => byState(place, path) ?? []);
  } catch {
    return [];
  }
}

/** Reads a named file of the worktree: the workflow that it describes, or why it describes none. */
export function readInformal(place: ProjectPaths, path: string): InformalWorkflow | { why: string } {
  const text = readPlain(place, path);
  if (text === undefined) return { why: 'is no text file of this project' };
  const found = byState(place, path) ?? byMarkers(place, path) ?? byPlan(place, path);
  if (found) return found;
  if (path.endsWith('.json'))
    return { why: "describes no workflow: it needs 'workflow' and 'phase' with 'current' and 'total'" };
  const missing = missingMarkers(text).map((marker) => `'${marker}'`);
  return { why: `describes no workflow: it lacks ${missing.join(', ') || "'🔄 In Progress'"}` };
}

/** The current content of an adopted run's source. If the source is complete or gone, the phase is dropped, so the run may finish. */
export function followSource(project: Project, adopted: Adopted): Adopted {
  const path = sourceIn(project, adopted);
  if (path === undefined) return adopted;
  const now = readInformal(project, path);
  const { phase: _, ...over } = adopted;
  return 'why' in now || now.complete ? over : adoptedFrom({ ...now, source: adopted.source });
}

/**
 * Whether the source of an adopted run still describes it. An agent removes its state file when the work is complete;
 * any other source may be on another branch or machine.
 */
export function sourceState(project: Project, adopted: Adopted): 'open' | 'complete' | 'gone' {
  const path = sourceIn(project, adopted);
  if (path === undefined) return 'open';
  const now = readInformal(project, path);
  if (!('why' in now)) return now.complete ? 'complete' : 'open';
  const text = readPlain(project, path);
  if (text !== undefined)
    return /(^|[/\\])PLAN\.md$/.test(path) && isPlanComplete(text) ? 'complete' : 'gone';
  const kept = path.split(sep).join('/').startsWith('untracked/workflow-state/');
  return kept && namesIn(project, 'untracked').includes('workflow-state') ? 'complete' : 'gone';
}

/** The last state of a source that is complete: its last phase. */
export function completedSource(project: Project, adopted: Adopted): Adopted {
  const now = readInformal(project, sourceIn(project, adopted) ?? adopted.source);
  const last = 'why' in now ? adopted : adoptedFrom({ ...now, source: adopted.source });
  return last.phase ? { ...last, phase: { ...last.phase, current: last.phase.total } } : last;
}

export function adoptedFrom(found: InformalWorkflow): Adopted {
  const { source, phase, reading, text, reminders, variables } = found;
  return {
    source,
    ...(phase ? { phase } : {}),
    reading,
    text,
    ...(reminders ? { reminders } : {}),
    ...(variables ? { variables } : {}),
  };
}

/** The source's path from the worktree; undefined for a source of another worktree. */
function sourceIn({ root, worktree }: ProjectPaths, { source }: Adopted): string | undefined {
  const path = relative(worktree, join(root, source));
  return path.split(sep)[0] === '..' || isAbsolute(path) ? undefined : path;
}

function byState(place: ProjectPaths, path: string): InformalWorkflow | undefined {
  if (!path.endsWith('.json')) return undefined;
  const text = readPlain(place, path);
  const found = text === undefined ? undefined : describedByState(text);
  return found && { ...found, source: sourceOf(place, path) };
}

function byMarkers(place: ProjectPaths, path: string): InformalWorkflow | undefined {
  const text = readPlain(place, path);
  const found = text === undefined ? undefined : describedByMarkers({ text, exists: existsIn(place) });
  return found && { ...found, source: sourceOf(place, path) };
}

function byPlan(place: ProjectPaths, path: string): InformalWorkflow | undefined {
  const text = readPlain(place, path);
  if (text === undefined) return undefined;
  const inner = path.split(sep).join('/');
  const found = describedByPlan({ text, exists: existsIn(place) }, basename(dirname(path)), inner);
  return found && { ...found, source: sourceOf(place, path) };
}

const planFiles = (place: ProjectPaths): string[] =>
  newest(
    place,
    namesIn(place, plans).map((name) => join(plans, name, 'PLAN.md')),
  );

/** Those that exist, by when they were written. */
const newest = ({ worktree }: ProjectPaths, paths: readonly string[]): string[] =>
  paths
    .map((path) => ({ path, time: statSync(join(worktree, path), { throwIfNoEntry: false })?.mtimeMs }))
    .filter(({ time }) => time !== undefined)
    .sort((a, b) => (b.time ?? 0) - (a.time ?? 0) || (a.path < b.path ? -1 : 1))
    .slice(0, mostFiles)
    .map(({ path }) => path);

function namesIn({ worktree }: ProjectPaths, folder: string): string[] {
  const path = join(worktree, folder);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(path).filter((name) => !/\p{Cc}/u.test(name));
}

/** The text of a file inside the worktree, cut if it is huge; undefined if it is not a text file. */
function readPlain({ worktree }: ProjectPaths, path: string): string | undefined {
  const file = containedFile(worktree, path);
  if (file === undefined || !statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  const bytes = openingOf(file);
  if (bytes.includes(0)) return undefined;
  return bytes.toString('utf8').replaceAll(/\r\n?/g, '\n');
}

function openingOf(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes);
    const length = readSync(handle, bytes, 0, maxBytes, 0);
    // Cut at the end of a line, so that no character is split.
    const end = length < maxBytes ? length : bytes.lastIndexOf(10) + 1 || length;
    return bytes.subarray(0, end);
  } finally {
    closeSync(handle);
  }
}

const existsIn =
  ({ worktree }: ProjectPaths) =>
  (path: string): boolean => {
    try {
      const file = containedFile(worktree, path);
      return file !== undefined && statSync(file, { throwIfNoEntry: false }) !== undefined;
    } catch {
      // Not a valid file name.
      return false;
    }
  };

/** The path from the project's root, so that files of two worktrees differ. */
function sourceOf({ root, worktree }: ProjectPaths, path: string): string {
  const stored = portable(join(worktree, path), root);
  const inner = relative(worktree, join(worktree, path)).split(sep).join('/');
  return isAbsolute(stored) ? inner : stored.replace(/^\{project_root\}\//, '');
}
