import { codexHost } from '../../kit/codex.ts';
import { sessionSuite } from '../../kit/session-suite.ts';

sessionSuite(codexHost, 'rest');
