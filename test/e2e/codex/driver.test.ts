import { codexHost } from '../../kit/codex.ts';
import { driverSuite } from '../../kit/driver-suite.ts';

driverSuite(codexHost, 'rest');
