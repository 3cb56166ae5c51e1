import { gatesOf, grantsOf } from '../definition/index.ts';
import type { Circumstances } from '../engine/index.ts';
import type { Tree } from '../evidence/index.ts';
import type { Caller, CommandType, Definition, ProvenPrincipal, SessionFacts } from '../machine/index.ts';
import type { Workspace } from '../workspace/index.ts';
import type { Refused } from './answer.ts';

export interface CallerIdentity {
  actor?: NonNullable<Caller['actor']>;
  session?: string;
  /** The agent program, where it is known. */
  host?: string;
  /** What observes the session's resets. */
  witness?: NonNullable<SessionFacts['witness']>;
}

/** Adds the caller and the workspace to commands. */
export interface CallContext {
  clock(): number;
  caller(identity: CallerIdentity, tree?: string): Caller;
  /** Binds the session with its first call. */
  around(identity: CallerIdentity): Circumstances;
  treeFor(definition: Definition, type: CommandType, worktree: string): Promise<Tree | undefined>;
  untrusted(definition: Definition, name: string): Refused | undefined;
}

export function createCallContext({
  workspace,
  clock,
  principal,
}: {
  workspace: Workspace;
  clock(): number;
  principal?: ProvenPrincipal | undefined;
}): CallContext {
  const { hasFiles, values, here } = workspace;
  return {
    clock,
    caller({ actor, session }, tree) {
      // A server without files only serves agents' tools, so the caller is an agent, even with a person's token.
      const by = hasFiles ? actor : { kind: 'agent' as const, ...(principal && { principal }) };
      return { now: clock(), actor: by, session, tree };
    },
    around({ session, host, witness }) {
      if (session === undefined) return { values };
      const facts: SessionFacts = {
        worktree: here,
        environment: workspace.environment(),
        ...(host !== undefined && { host }),
        ...(witness && { witness }),
      };
      return { values, facts };
    },
    /** Hashing the tree reads every file, so it is done only if the workflow needs it. */
    async treeFor(definition, type, worktree) {
      const work = [...definition.steps, ...Object.values(definition.loops ?? {}).flat()];
      const reads = work.some((step) => step.read_only);
      const checks = work.some((step) => gatesOf(step).length > 0 || ('review' in step && step.review));
      if (!reads && (!checks || type === 'start')) return undefined;
      return await workspace.tree(definition, worktree);
    },
    untrusted(definition, name) {
      if (workspace.isTrusted(definition)) return undefined;
      const changes = workspace.trustChanges(definition);
      const grants = grantsOf(definition);
      return {
        code: 'untrusted',
        params: { workflow: definition.name, name, grants, ...(changes && { changes }) },
      };
    },
  };
}
