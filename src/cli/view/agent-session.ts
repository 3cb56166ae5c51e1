import { existsSync } from 'node:fs';
import { loadHostSetups } from '../../hosts/index.ts';
import type { State } from '../../machine/index.ts';
import type { AgentSession } from '../../messages/index.ts';
import { onPath } from '../../on-path.ts';
import { createBindings, isPresent, type LocalRuntime, sessionName } from '../../runtime/index.ts';
import { bootId, isAlive, machineId, stateDirectory } from '../../workspace/index.ts';
import { isPerson } from '../caller.ts';
import type { Io } from '../io.ts';
import { pluginLink } from '../setup/copy-plugin.ts';

/** Whether an agent's session works on the run, else how a person opens one. Undefined for an agent, which is one. */
export async function findAgentSession(
  { project }: LocalRuntime,
  state: State | undefined,
  io: Io,
): Promise<AgentSession | undefined> {
  if (!isPerson(io)) return undefined;
  const setups = await loadHostSetups();
  const directory = stateDirectory({ env: io.env, home: io.home });
  const bindings = await createBindings(project.directory).list();
  const presence = { now: io.now(), boot: bootId(machineId(directory)), isAlive };
  const present = bindings.find((binding) => binding.run === state?.run && isPresent(binding, presence));
  if (present) return { open: true, host: setups.find(({ name }) => name === present.host)?.title };
  // Sessions without hooks, and those of other machines, have no binding here.
  const known = new Set(bindings.map(sessionName));
  const others = Object.entries(state?.sessions ?? {}).filter(([id]) => !known.has(id));
  if (others.some(([, { endedAt }]) => endedAt === undefined)) return { open: true };
  const installed = existsSync(pluginLink(directory));
  return {
    open: false,
    program: setups.find(({ program }) => installed && onPath(program, io.env))?.program,
  };
}
