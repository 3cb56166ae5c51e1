import { driverSuite } from '../../kit/driver-suite.ts';
import { openCodeHost } from '../../kit/opencode.ts';

driverSuite(openCodeHost, 'rest');
