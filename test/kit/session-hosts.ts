import { claudeHost } from './claude-host.ts';
import { codexHost } from './codex.ts';
import { copilotHost } from './copilot.ts';
import type { SessionHost } from './host-stage.ts';
import { openCodeHost } from './opencode.ts';

/** The hosts that the suite of sessions runs in. */
export const sessionHosts: readonly SessionHost[] = [claudeHost, codexHost, copilotHost, openCodeHost];
