import type { HostSetup } from '../../runtime/index.ts';
import { checkCodex } from './check.ts';
import { planInstall } from './install.ts';
import { tryLive } from './live.ts';
import { hostName } from './parse-payload.ts';
import { findCodex, programName } from './program.ts';
import { uninstall } from './uninstall.ts';

/** Installs through the host's own plugin commands. */
export const codexSetup: HostSetup = {
  name: hostName,
  title: 'Codex',
  program: programName,
  go: '$stepfast go',
  find: findCodex,
  plan: planInstall,
  uninstall,
  check: checkCodex,
  live: tryLive,
};
