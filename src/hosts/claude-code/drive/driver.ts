import type { HostDriver } from '../../../runtime/index.ts';
import { findClaude } from '../program.ts';
import { openSession } from './session.ts';

/** `claude -p` with stream-json both ways: the person's own program and login. */
export const claudeCodeDriver: HostDriver = {
  reports: ['turns', 'tokens', 'minutes', 'cost'],
  find: async (env, cwd) => await findClaude({ env, root: cwd }),
  open: openSession,
};
