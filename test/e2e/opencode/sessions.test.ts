import { openCodeHost } from '../../kit/opencode.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

sessionSuite(openCodeHost, 'rest');
