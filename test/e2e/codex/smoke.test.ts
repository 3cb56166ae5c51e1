/** What CI runs of this agent when nothing of it has changed: scripts/ci/tiers.ts. */
import { codexHost } from '../../kit/codex.ts';
import { driverSuite } from '../../kit/driver-suite.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

driverSuite(codexHost, 'smoke');
sessionSuite(codexHost, 'smoke');
