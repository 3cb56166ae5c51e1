import type { HostDriver } from '../../../runtime/index.ts';
import { findCopilot } from '../installed.ts';
import { openSession } from './session.ts';

/** `copilot -p`, one process a turn in the same session: the person's own program and login. It tells no cost. */
export const copilotDriver: HostDriver = {
  reports: ['turns', 'tokens', 'minutes'],
  find: async (env, cwd) => await findCopilot({ env, root: cwd }),
  open: openSession,
};
