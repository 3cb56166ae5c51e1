import type { HostSetup } from '../../runtime/index.ts';
import { checkClaude } from './check.ts';
import { planInstall } from './install.ts';
import { tryLive } from './live.ts';
import { hostName } from './parse-payload.ts';
import { findClaude, programName } from './program.ts';
import { uninstall } from './uninstall.ts';

/** Installs through the host's own plugin commands. */
export const claudeCodeSetup: HostSetup = {
  name: hostName,
  title: 'Claude Code',
  program: programName,
  go: '/stepfast:go',
  find: findClaude,
  plan: planInstall,
  uninstall,
  check: checkClaude,
  live: tryLive,
};
