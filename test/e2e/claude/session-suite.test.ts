import { claudeHost } from '../../kit/claude-host.ts';
import { sessionSuite } from '../../kit/session-suite.ts';
import { installedOnce } from './installed-once.ts';

sessionSuite(installedOnce(claudeHost));
