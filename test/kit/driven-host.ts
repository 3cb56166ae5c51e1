/** The host that tests of the driver run if they name none: Claude Code. */
import { claudeHost } from './claude-host.ts';
import type { DrivenHost } from './host-stage.ts';

export const drivenHost = (): DrivenHost => claudeHost;
