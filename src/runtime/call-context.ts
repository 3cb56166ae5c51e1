import { commandsOf, excludedFrom, gatesOf } from '../definition/index.ts';
import type { Circumstances } from '../engine/index.ts';
import { type Tree, treeOf } from '../evidence/index.ts';
import type { Caller, CommandType, Definition, SessionFacts } from '../machine/index.ts';
import { type Project, placed, portable, sessionEnvironment, type Trust } from '../workspace/index.ts';
import type { Refused } from './answer.ts';

export interface Who {
  actor?: NonNullable<Caller['actor']>;
  session?: string;
  /** The agent program, where it is known. */
  host?: string;
  /** Somebody sees the session's resets. */
  witness?: NonNullable<SessionFacts['witness']>;
}

interface Options {
  project: Project;
  trust: Trust;
  clock(): number;
  env: Readonly<Record<string, string | undefined>>;
  cacheDirectory: string;
  /** Where runs live on a server too: which project directory of which machine this is. */
  place?: string | undefined;
}

/** What a command is told of its moment: who calls, from where, and on which tree. */
export interface Surroundings {
  clock(): number;
  /** This worktree, as it is stored. */
  here: string;
  values: Record<string, string>;
  /** Where a session works, for its run's history. */
  environment(): Record<string, string>;
  caller(who: Who, tree?: string): Caller;
  /** Binds the session with its first call. */
  around(who: Who): Circumstances;
  treeFor(definition: Definition, type: CommandType, worktree: string): Promise<Tree | undefined>;
  untrusted(definition: Definition, name: string): Refused | undefined;
}

export function createSurroundings({
  project,
  trust,
  clock,
  env,
  cacheDirectory,
  place,
}: Options): Surroundings {
  const here = placed(portable(project.worktree, project.root), place);
  const values = { project_root: project.root };
  return {
    clock,
    here,
    values,
    environment: () => sessionEnvironment(project, env),
    caller: ({ actor, session }, tree) => ({ now: clock(), actor, session, tree }),
    around({ session, host, witness }) {
      if (session === undefined) return { values };
      const facts: SessionFacts = {
        worktree: here,
        environment: sessionEnvironment(project, env),
        ...(host === undefined ? {} : { host }),
        ...(witness === undefined ? {} : { witness }),
      };
      return { values, facts };
    },
    /** The tree's hash costs a walk over it: asked for only where something hangs on it. */
    async treeFor(definition, type, worktree) {
      const work = [...definition.steps, ...Object.values(definition.loops ?? {}).flat()];
      const reads = work.some((step) => step.read_only);
      const checks = work.some((step) => gatesOf(step).length > 0 || ('review' in step && step.review));
      if (!reads && (!checks || type === 'start')) return undefined;
      return await treeOf({ worktree, exclude: excludedFrom(definition), cacheDirectory });
    },
    untrusted(definition, name) {
      if (trust.has(definition)) return undefined;
      const params = { workflow: definition.name, name, commands: commandsOf(definition) };
      return { code: 'untrusted', params };
    },
  };
}
