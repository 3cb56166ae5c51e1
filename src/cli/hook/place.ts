import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashDefinition } from '../../definition/index.ts';
import { ended } from '../../machine/index.ts';
import {
  type Bindings,
  bootId,
  createBindings,
  createEngine,
  createMarks,
  createSessions,
  type Engine,
  isAlive,
  type Marks,
  machineId,
  markedRuns,
  newRun,
  type Project,
  type Sessions,
  sessionEnvironment,
  stateDirectory,
  unmarkRun,
  withMarks,
} from '../../runtime/index.ts';
import { createFileStore, type RunInfo } from '../../store/index.ts';
import type { Around } from './around.ts';

/** A project as hooks see it: the parts of a runtime that need no workflow files, no gates and no trust. */
export interface Place extends Around {
  project: Project;
  /** Its runs are those with marks: a project may keep many that have ended. */
  engine: Engine;
  sessions: Sessions;
  bindings: Bindings;
  marks: Marks;
  state: string;
  /** Why runs could not be read; the others go on. */
  problems: string[];
}

export function openPlace(project: Project, around: Around): Place {
  const { env, home, now } = around;
  const state = stateDirectory({ env, home });
  const machine = machineId(state);
  const marks = createMarks(project.directory);
  const problems: string[] = [];
  const store = createFileStore({
    directory: join(project.directory, 'runs'),
    machine,
    nonce: () => randomBytes(6).toString('hex'),
  });
  const whole = withMarks(createEngine({ store, newRun, hashOf: hashDefinition }), project.directory);
  const engine: Engine = { ...whole, runs };
  const bindings = createBindings(project.directory);
  const sessions = createSessions({
    engine,
    bindings,
    project,
    clock: now,
    boot: bootId(machine),
    environment: () => sessionEnvironment(project, env),
    isAlive,
    onError: (error) => problems.push(messageOf(error)),
  });
  return { ...around, project, engine, sessions, bindings, marks, state, problems };

  async function runs(): Promise<RunInfo[]> {
    const found: RunInfo[] = [];
    for (const run of markedRuns(marks)) {
      const info = await infoOf(run);
      // Ended or removed where nobody took its marks away.
      if (!info || (info.state && ended(info.state))) unmarkRun(marks, run);
      else found.push(info);
    }
    return found;
  }

  /** One that cannot be read now is not gone. */
  async function infoOf(run: string): Promise<RunInfo | undefined> {
    try {
      const view = await whole.view(run);
      return view && { run, state: view.state };
    } catch (error) {
      const problem = messageOf(error);
      problems.push(problem);
      return { run, problem };
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
