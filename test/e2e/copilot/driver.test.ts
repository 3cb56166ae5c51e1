import { copilotHost } from '../../kit/copilot.ts';
import { driverSuite } from '../../kit/driver-suite.ts';

driverSuite(copilotHost, 'rest');
