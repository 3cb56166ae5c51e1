import type { HostVariables } from '../../runtime/index.ts';

export const variables: HostVariables = {
  agent: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SESSION_ID'],
  internal: [
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_ENV_FILE',
    'CLAUDE_PLUGIN_DATA',
    'CLAUDE_PLUGIN_ROOT',
    'CLAUDE_PROJECT_DIR',
  ],
  session: 'CLAUDE_CODE_SESSION_ID',
  project: 'CLAUDE_PROJECT_DIR',
};
