import { codexHost } from './codex.ts';
import type { SessionHost } from './host-stage.ts';

/** The hosts that the suite of sessions runs in. */
export const sessionHosts: readonly SessionHost[] = [codexHost];
