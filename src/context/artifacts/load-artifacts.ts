import {
  type CriticalArtifact,
  type Definition,
  maxExpanded,
  type Room,
  type State,
} from '../../machine/index.ts';
import { redactQuickly } from '../secrets/redact.ts';
import type { Artifact, ArtifactContent } from './artifact.ts';
import { type ArtifactFiles, createArtifactFiles } from './artifact-files.ts';
import type { Git } from './git-info.ts';
import { loadContent } from './load-content.ts';
import { printable } from './printable.ts';
import { expand } from './resolve-path.ts';

export interface ArtifactRequest {
  definition: Definition;
  state: State;
  /** The content of `state.json`. */
  projection: unknown;
  /** The directory with `.stepfast/runs`. */
  root: string;
  /** Relative paths and `{project_root}` refer to this directory. */
  worktree: string;
  /** `why` is set only if the expression cannot be evaluated. */
  condition(expression: string): { pass: boolean; why?: string };
  git: Git;
  /** The ids to load; all by default. */
  only?: readonly string[];
  files?: ArtifactFiles;
}

/** Loads the critical artifacts of a run, in workflow order. Problems on disk become states, never exceptions. */
export async function loadArtifacts(request: ArtifactRequest): Promise<Artifact[]> {
  const { always_load = [], conditional_load = [] } = request.definition.critical_artifacts ?? {};
  const files = request.files ?? createArtifactFiles();
  const room = { left: maxExpanded };
  const artifacts: Artifact[] = [];
  for (const entry of [...always_load, ...conditional_load]) {
    if (request.only && !request.only.includes(entry.id)) continue;
    artifacts.push({
      id: entry.id,
      type: entry.type,
      description: redactQuickly(expand(entry.description ?? entry.id, request, room)),
      required: entry.required ?? false,
      triggers: entry.reload_triggers ?? ['session_start'],
      content: await contentOf(entry, { ...request, files, room }),
    });
  }
  return artifacts;
}

async function contentOf(
  entry: CriticalArtifact,
  request: ArtifactRequest & { files: ArtifactFiles; room: Room },
): Promise<ArtifactContent> {
  const { condition, command } = entry;
  if (condition !== undefined) {
    const { pass, why } = request.condition(condition);
    if (why !== undefined) {
      const reason = redactQuickly(printable(why)).slice(0, 200);
      return { state: 'unclear', why: `The condition of '${entry.id}' cannot be evaluated: ${reason}` };
    }
    if (!pass) return { state: 'not_needed' };
  }
  if (command !== undefined) {
    const done = request.state.notes.some(({ kind, key }) => kind === 'reading' && key === entry.id);
    return {
      state: 'command',
      command: redactQuickly(printable(expand(command, request, request.room))),
      done,
    };
  }
  return loadContent(entry, request);
}
