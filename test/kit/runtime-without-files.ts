import type { Engine } from '../../src/engine/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { none, type UsedDefinitions } from '../../src/workspace/index.ts';

interface Options {
  engine: Engine;
  session: string;
  used?: UsedDefinitions;
  clock?(): number;
}

/** The runtime of a server without files, where all runs of the engine are looked through for the session's own. */
export const runtimeWithoutFiles = ({ engine, session, used, clock = Date.now }: Options): Runtime =>
  createRuntime({
    engine,
    workspace: none(used),
    clock,
    runs: async () =>
      (await engine.runs()).filter(({ state }) => state && Object.hasOwn(state.sessions, session)),
  });
