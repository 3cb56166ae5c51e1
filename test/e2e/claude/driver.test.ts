import { claudeHost } from '../../kit/claude-host.ts';
import { driverSuite } from '../../kit/driver-suite.ts';

driverSuite(claudeHost);
