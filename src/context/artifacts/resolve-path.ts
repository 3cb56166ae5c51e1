import {
  type CriticalArtifact,
  type Definition,
  expandPlaceholders,
  opening,
  type Room,
  type State,
} from '../../machine/index.ts';
import { partProblem, portablePath } from './portable-path.ts';

export interface ArtifactContext {
  definition: Definition;
  state: State;
  /** The content of `state.json`. */
  projection: unknown;
}

export type ResolvedPath =
  | { segments: readonly string[] }
  | { state: 'missing' | 'refused'; path?: string; why: string };

/** Fills in the placeholders of an artifact's path and checks every value and segment. */
export function resolveArtifactPath(
  { path, path_from_state: from }: CriticalArtifact,
  context: ArtifactContext,
): ResolvedPath {
  if (path !== undefined) return resolvePath(path, context, lookUpAny);
  if (from === undefined)
    return { state: 'refused', why: 'has no path: set path, path_from_state or command' };
  const value = valueAt(context.projection, from);
  if (value === undefined)
    return {
      state: 'missing',
      why: `needs ${from} of state.json, which is not set: note it ${noteHint(from)}`,
    };
  if (typeof value !== 'string' || value === '')
    return { state: 'refused', why: `needs ${from} of state.json to be a path, which it is not` };
  return resolvePath(value, context, lookUpPortable);
}

/** The note that sets a path in `state.json`. */
export const noteHint = (from: string): string =>
  `(kind ${from.startsWith('context.') ? 'variable' : 'artefact'}, key ${from.split('.').at(-1)})`;

/** Fills in context placeholders once; unknown ones stay as they are. */
export const expand = (text: string, context: ArtifactContext, room?: Room): string =>
  expandPlaceholders(text, (name) => (name === 'project_root' ? '.' : lookUpAny(name, context)), room);

/** More than any path has that is not refused. */
const maxPathCharacters = 10_000;

type Lookup = (name: string, context: ArtifactContext) => string | undefined;

function resolvePath(path: string, context: ArtifactContext, lookup: Lookup): ResolvedPath {
  let problem: string | undefined;
  const expanded = expandPlaceholders(
    path,
    (name) => {
      // Kept as a marker: it is only valid at the start of a path.
      if (name === 'project_root') return '{project_root}';
      const value = lookup(name, context);
      if (value !== undefined) {
        const wrong = partProblem(value);
        if (wrong !== undefined) problem ??= `{${name}} ${wrong}`;
      }
      return value;
    },
    { left: maxPathCharacters },
  );
  if (problem !== undefined) return { state: 'refused', path, why: `cannot be filled in: ${problem}` };
  const checked = portablePath(expanded);
  if ('why' in checked) return { state: 'refused', path: expanded, why: checked.why };
  return checked;
}

const lookUpAny: Lookup = (name, { definition, state }) => {
  const dot = name.indexOf('.');
  const [root, part] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  if (root === 'input') return own(definition.inputs, part) && String(own(state.inputs, part) ?? '');
  if (root === 'outputs') return opening(own(state.outputs, part)?.text ?? '');
  if (name === 'summary') return state.summary ?? '';
  if (name === 'iteration') return String(Object.values(state.cursors)[0]?.iteration ?? '');
  return lookUpPortable(name, { definition, state, projection: undefined });
};

/** Placeholders that are allowed in a path from `state.json`. */
const lookUpPortable: Lookup = (name, { definition, state }) => {
  if (name === 'run_id') return state.run;
  if (name !== 'plan_id') return undefined;
  return own(state.variables, name) ?? String(own(definition.variables, name) ?? '');
};

/** The value at a dotted path, by own properties only. */
function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.getOwnPropertyDescriptor(at, key)?.value ?? undefined;
  }
  return at;
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
