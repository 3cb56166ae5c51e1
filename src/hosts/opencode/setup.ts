import type { HostSetup } from '../../runtime/index.ts';
import { findProgram } from '../program.ts';
import { checkOpenCode } from './check.ts';
import { planInstall } from './install.ts';
import { tryLive } from './live.ts';
import { hostName } from './parse-payload.ts';
import { uninstall } from './uninstall.ts';

export const programName = 'opencode';

/** Edits the project's settings: a plugin and a server. */
export const openCodeSetup: HostSetup = {
  name: hostName,
  title: 'OpenCode',
  program: programName,
  go: '/stepfast go',
  find: async (context) => await findProgram(programName, context),
  plan: planInstall,
  uninstall,
  check: checkOpenCode,
  live: tryLive,
};
