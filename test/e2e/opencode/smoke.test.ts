/** What CI runs of this agent when nothing of it has changed: scripts/ci/tiers.ts. */
import { driverSuite } from '../../kit/driver-suite.ts';
import { openCodeHost } from '../../kit/opencode.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

driverSuite(openCodeHost, 'smoke');
sessionSuite(openCodeHost, 'smoke');
