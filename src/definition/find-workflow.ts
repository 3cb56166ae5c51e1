import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, extname, isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Diagnostic } from './diagnostics.ts';
import type { FindBase } from './merge-extends.ts';
import { maxBytes, readTree } from './yaml.ts';
import { child, createSource, textOf } from './yaml-tree.ts';

/** One directory of the search path. */
export interface WorkflowDirectory {
  kind: 'project' | 'user' | 'bundled';
  directory: string;
}

interface FoundWorkflow {
  file: string;
  /** `file` where the name was a path. */
  from: WorkflowDirectory['kind'] | 'file';
}

interface SearchPathOptions {
  projectRoot?: string;
  home?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  platform?: NodeJS.Platform;
}

/** The search path: the repository's workflows (also those of Lanes), the user's, the bundled ones. Directories need not exist. */
export function workflowSearchPath(options: SearchPathOptions = {}): WorkflowDirectory[] {
  const {
    projectRoot = process.cwd(),
    home = homedir(),
    env = process.env,
    platform = process.platform,
  } = options;
  const bundled = bundledDirectory();
  const found: WorkflowDirectory[] = [
    { kind: 'project', directory: join(projectRoot, '.stepfast', 'workflows') },
    { kind: 'project', directory: join(projectRoot, '.lanes', 'workflows') },
    { kind: 'user', directory: join(userDirectory(home, env, platform), 'stepfast', 'workflows') },
  ];
  if (bundled !== undefined) found.push({ kind: 'bundled', directory: bundled });
  return found;
}

/** Where the user's own files of every program are. */
export function userDirectory(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/** `workflows/` of this package, whether this file runs from `src/` or from the bundle. */
function bundledDirectory(): string | undefined {
  let directory = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = join(directory, 'package.json');
    if (existsSync(manifest) && isOurs(manifest)) return join(directory, 'workflows');
    const parent = dirname(directory);
    if (parent === directory) return undefined;
    directory = parent;
  }
}

function isOurs(manifest: string): boolean {
  try {
    return JSON.parse(readFileSync(manifest, 'utf8'))?.name === 'stepfast';
  } catch {
    return false;
  }
}

/** A name is a path when it holds a separator or ends in .yaml, .yml or .json. The first place that has the name wins. */
export function findWorkflow(
  name: string,
  searchPath: readonly WorkflowDirectory[],
): FoundWorkflow | undefined {
  if (isPath(name)) return isFile(name) ? { file: normalize(name), from: 'file' } : undefined;
  for (const { kind, directory } of searchPath) {
    const file = findIn(directory, name);
    if (file !== undefined) return { file, from: kind };
  }
  return undefined;
}

/**
 * For `extends`: a path from the file that names it, or a name in its directory, then in the search path; never the file
 * itself. A file of the search path sees only the places after its own, so no place can slip a base under an earlier one.
 */
export function createFindBase(searchPath: readonly WorkflowDirectory[]): FindBase {
  return (name, from) => {
    const directory = dirname(from);
    const file = isPath(name)
      ? insideOf(name, directory, searchPath)
      : [directory, ...after(directory, searchPath)]
          .map((each) => findIn(each, name, resolve(from)))
          .find((each) => each !== undefined);
    const read = file === undefined ? undefined : readWorkflowFile(file);
    return file !== undefined && read?.ok ? { file, text: read.text } : undefined;
  };
}

/** A path may not leave the project, nor reach through a link out of it, and names a workflow file. */
function insideOf(
  name: string,
  directory: string,
  searchPath: readonly WorkflowDirectory[],
): string | undefined {
  if (isAbsolute(name) || !/\.(?:ya?ml|json)$/.test(name)) return undefined;
  const file = normalize(join(directory, name));
  try {
    const inside = relative(realpathSync(rootOf(directory, searchPath)), realpathSync(file));
    return inside.startsWith('..') || isAbsolute(inside) ? undefined : file;
  } catch {
    return undefined;
  }
}

/** Of a place in a project the project, of another place the place itself; else the nearest project, or the directory. */
function rootOf(directory: string, searchPath: readonly WorkflowDirectory[]): string {
  const place = searchPath.find((each) => resolve(each.directory) === resolve(directory));
  if (place) return place.kind === 'project' ? dirname(dirname(place.directory)) : place.directory;
  return nearestProject(directory);
}

/** The nearest directory from here on up that has `.git` or `.stepfast`, or the directory itself. */
export function nearestProject(directory: string): string {
  for (let up = resolve(directory); ; up = dirname(up)) {
    if (existsSync(join(up, '.git')) || existsSync(join(up, '.stepfast'))) return up;
    if (up === dirname(up)) return directory;
  }
}

function after(directory: string, searchPath: readonly WorkflowDirectory[]): string[] {
  const directories = searchPath.map((place) => resolve(place.directory));
  return directories.slice(directories.indexOf(resolve(directory)) + 1);
}

/** The workflow files of a directory in the order of their names; none where it does not exist. */
export function workflowFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((entry) => /\.ya?ml$/.test(entry))
      .sort()
      .map((entry) => join(directory, entry));
  } catch {
    return [];
  }
}

type ReadFile = { ok: true; text: string } | { ok: false; diagnostic: Diagnostic };

/** Reads regular files only, so that a pipe or a device never holds the program. */
export function readWorkflowFile(file: string): ReadFile {
  const problem = (code: string, message: string, suggestion: string): ReadFile => ({
    ok: false,
    diagnostic: { severity: 'error', code, file, line: 1, column: 1, message, suggestion },
  });
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return problem('unreadable', 'This is not a file', 'Name a YAML file.');
    if (stat.size > maxBytes) {
      return problem(
        'too_large',
        `The file is larger than ${maxBytes / 1024} KB`,
        'Move long texts into files and name them in required_reading.',
      );
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return { ok: true, text };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return problem('encoding', 'The file is not UTF-8', 'Save it as UTF-8.');
    }
    const missing = code === 'ENOENT';
    return missing
      ? problem('not_found', 'The file does not exist', 'Check the path.')
      : problem(
          'unreadable',
          `The file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
          'Check its permissions.',
        );
  }
}

/** The `name` key of a workflow text, or the stem of its file where there is none that can be read. */
export function workflowName(text: string, file: string): string {
  const quick = /^name:[ \t]+([A-Za-z0-9][\w-]*)[ \t]*(?:#.*)?\r?$(?!\n[ \t])/m.exec(text);
  if (quick?.[1] !== undefined && !/^(?:true|false|null|\d[\d_xoe]*)$/i.test(quick[1])) return quick[1];
  const tree = readTree(createSource(file, text), () => {});
  return textOf(child(tree, 'name')) ?? textOf(child(tree, 'id')) ?? basename(file, extname(file));
}

function findIn(directory: string, name: string, except?: string): string | undefined {
  return workflowFiles(directory).find((file) => {
    if (except !== undefined && resolve(file) === except) return false;
    const read = readWorkflowFile(file);
    return read.ok && workflowName(read.text, file) === name;
  });
}

export const isPath = (name: string): boolean => /[/\\]|\.(?:ya?ml|json)$/.test(name);

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
