/** The host that tests of the driver run: Claude Code, unless a test file names another before it imports them. */
import { claudeDrivenHost } from './claude-driven.ts';
import type { DrivenHost } from './host-stage.ts';

let chosen: DrivenHost = claudeDrivenHost;

export const drivenHost = (): DrivenHost => chosen;

export function useDrivenHost(host: DrivenHost): void {
  chosen = host;
}
