import { closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Adopted } from '../../machine/index.ts';
import { containedFile, type Project, portable } from '../../workspace/index.ts';
import {
  describedByMarkers,
  describedByPlan,
  missingMarkers,
  type WorkflowDescription,
} from './parse-informal-workflow.ts';

export interface InformalWorkflow extends WorkflowDescription {
  /** From the project's root, the same on every machine. */
  source: string;
}

type ProjectPaths = Pick<Project, 'root' | 'worktree'>;

const local = 'CLAUDE.local.md';
const plans = join('CLAUDE', 'Plan');
const maxBytes = 256 * 1024;
const mostPlans = 50;

/** Costs two file system calls. */
const mayBeInformal = ({ worktree }: ProjectPaths): boolean =>
  [local, plans].some((path) => lstatSync(join(worktree, path), { throwIfNoEntry: false }) !== undefined);

/** Informal workflows of a worktree: `CLAUDE.local.md` first, then plans in progress, the newest first. Never throws. */
export function findInformal(place: ProjectPaths): InformalWorkflow[] {
  try {
    if (!mayBeInformal(place)) return [];
    const own = byMarkers(place, local);
    return [...(own ? [own] : []), ...planFiles(place).flatMap((path) => byPlan(place, path) ?? [])];
  } catch {
    // A file that was removed or cannot be read counts as absent.
    return [];
  }
}

/** Reads a named file of the worktree: the workflow that it describes, or why it describes none. */
export function readInformal(place: ProjectPaths, path: string): InformalWorkflow | { why: string } {
  const text = readPlain(place, path);
  if (text === undefined) return { why: 'is no text file of this project' };
  const found = byMarkers(place, path) ?? byPlan(place, path);
  if (found) return found;
  const missing = missingMarkers(text).map((marker) => `'${marker}'`);
  return { why: `describes no workflow: it lacks ${missing.join(', ') || "'🔄 In Progress'"}` };
}

/** The current content of an adopted run's source. If the source is complete or gone, the phase is dropped, so the run may finish. */
export function followSource(project: Project, adopted: Adopted): Adopted {
  const now = readInformal(project, adopted.source);
  const { phase: _, ...over } = adopted;
  if ('why' in now || now.complete) return over;
  const { phase, reading, text } = now;
  return { source: adopted.source, ...(phase ? { phase } : {}), reading, text };
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

/** The newest plans, by when they were written. */
function planFiles(place: ProjectPaths): string[] {
  const folder = join(place.worktree, plans);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => !/\p{Cc}/u.test(name))
    .map((name) => join(plans, name, 'PLAN.md'))
    .map((path) => ({ path, time: statSync(join(place.worktree, path), { throwIfNoEntry: false })?.mtimeMs }))
    .filter(({ time }) => time !== undefined)
    .sort((a, b) => (b.time ?? 0) - (a.time ?? 0) || (a.path < b.path ? -1 : 1))
    .slice(0, mostPlans)
    .map(({ path }) => path);
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
