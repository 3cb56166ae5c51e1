import type { HostDriver } from '../../../runtime/index.ts';
import { findProgram } from '../../program.ts';
import { openSession } from './session.ts';

/** `opencode serve`, one process a session: the person's own program, settings and login. */
export const openCodeDriver: HostDriver = {
  reports: ['turns', 'tokens', 'minutes', 'cost'],
  find: async (env, cwd) => await findProgram('opencode', { env, root: cwd }),
  open: openSession,
};
