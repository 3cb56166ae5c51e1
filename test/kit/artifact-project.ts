import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Artifact, ArtifactContent } from '../../src/context/artifacts/artifact.ts';
import { type ArtifactRequest, loadArtifacts } from '../../src/context/artifacts/load-artifacts.ts';
import { type CriticalArtifact, type State, settle } from '../../src/machine/index.ts';
import { createTestFolder, type TestFiles } from '../../src/testing/index.ts';

/** A project, and beside it a folder that nothing may be read from. */
export interface ArtifactProject {
  root: string;
  outside: string;
  /** Text that exists only outside the project. */
  canary: string;
  write(files: TestFiles): void;
  load(entries: CriticalArtifact[], request?: Partial<ArtifactRequest>): Promise<Artifact[]>;
  /** Loads one artifact with these keys; the default type is markdown. */
  content(entry: Partial<CriticalArtifact>, request?: Partial<ArtifactRequest>): Promise<ArtifactContent>;
  [Symbol.dispose](): void;
}

export const runId = 'feature-20261114-k3f9x2ab';

export function createArtifactProject(files: TestFiles = {}): ArtifactProject {
  const project = createTestFolder(files);
  const { root } = project;
  const outside = join(root, '..', 'outside');
  const canary = 'canary-of-the-outside';
  mkdirSync(outside);
  const hidden = { 'plan.md': canary, 'plan.json': JSON.stringify({ canary }), [`${canary}.md`]: canary };
  for (const [file, text] of Object.entries(hidden)) writeFileSync(join(outside, file), text);
  const load = (entries: CriticalArtifact[], request: Partial<ArtifactRequest> = {}): Promise<Artifact[]> =>
    loadArtifacts({
      state: sampleState(),
      projection: {},
      root,
      worktree: root,
      condition: () => ({ pass: true }),
      git: gitIn(root),
      ...request,
      definition: {
        name: 'feature',
        description: 'A feature',
        steps: [{ id: 'plan', type: 'action', instructions: 'Plan.' }],
        ...request.definition,
        critical_artifacts: { always_load: entries },
      },
    });
  return {
    root,
    outside,
    canary,
    write: project.write,
    load,
    async content(entry, request) {
      const [artifact] = await load([{ id: 'it', type: 'markdown', ...entry }], request);
      if (!artifact) throw new Error('it was not loaded');
      return artifact.content;
    },
    [Symbol.dispose]: () => project[Symbol.dispose](),
  };
}

/** The state of a new run, with changes. */
export function sampleState(changes: Partial<State> = {}): State {
  const definition = {
    name: 'feature',
    description: 'A feature',
    steps: [{ id: 'plan', type: 'action' as const, instructions: 'Plan.' }],
  };
  const { state } = settle(definition, null, { type: 'start', run: runId, now: 1 });
  if (state === null) throw new Error('the run did not begin');
  return { ...state, ...changes };
}

function gitIn(cwd: string): ArtifactRequest['git'] {
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: cwd,
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
  };
  return (args) =>
    new Promise((resolve) => {
      const all = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-pager', ...args];
      execFile('git', all, { cwd, env }, (error, stdout) => resolve(error ? undefined : stdout));
    });
}
