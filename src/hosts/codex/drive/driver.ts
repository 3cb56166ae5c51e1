import type { HostDriver } from '../../../runtime/index.ts';
import { findCodex } from '../program.ts';
import { openSession } from './session.ts';

/** `codex app-server`: the person's own program, settings and login. */
export const codexDriver: HostDriver = {
  reports: ['turns', 'tokens', 'minutes'],
  find: async (env, cwd) => await findCodex({ env, root: cwd }),
  open: openSession,
};
