import { claudeHost } from '../../kit/claude-host.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

sessionSuite(claudeHost);
