/** What CI runs of this agent when nothing of it has changed: scripts/ci/tiers.ts. */
import { copilotHost } from '../../kit/copilot.ts';
import { driverSuite } from '../../kit/driver-suite.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

driverSuite(copilotHost, 'smoke');
sessionSuite(copilotHost, 'smoke');
