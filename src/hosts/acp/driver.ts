import type { HostDriver } from '../../runtime/index.ts';
import { findProgram } from '../program.ts';
import type { AcpAgent } from './agent.ts';
import { openSession } from './session.ts';

/** Drives any agent that speaks the Agent Client Protocol over its standard input and output. */
export const createAcpDriver = (agent: AcpAgent): HostDriver => ({
  reports: agent.reports,
  find: async (env, cwd) => await findProgram(agent.program, { env, root: cwd }),
  open: async (options) => await openSession(agent, options),
});
