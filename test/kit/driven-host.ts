/** The host that tests of the driver run: Claude Code, unless a test file names another before it imports them. */
import { claudeHost } from './claude-host.ts';
import type { DrivenHost } from './host-stage.ts';

let chosen: DrivenHost = claudeHost;

export const drivenHost = (): DrivenHost => chosen;

export function useDrivenHost(host: DrivenHost): void {
  chosen = host;
}
