import type { HostSetup } from '../../runtime/index.ts';
import { checkCopilot } from './check.ts';
import { planInstall, uninstall } from './install.ts';
import { findCopilot, programName } from './installed.ts';
import { tryLive } from './live.ts';
import { hostName } from './parse-payload.ts';

/** Installs through the host's own plugin commands. */
export const copilotSetup: HostSetup = {
  name: hostName,
  title: 'Copilot CLI',
  program: programName,
  go: '/stepfast go',
  find: findCopilot,
  plan: planInstall,
  uninstall,
  check: checkCopilot,
  live: tryLive,
};
