import { copilotHost } from '../../kit/copilot.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

sessionSuite(copilotHost, 'rest');
