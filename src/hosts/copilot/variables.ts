import type { HostVariables } from '../../runtime/index.ts';

export const variables: HostVariables = {
  agent: ['COPILOT_CLI', 'COPILOT_AGENT_SESSION_ID'],
  internal: [
    'COPILOT_CLI_BINARY_VERSION',
    'COPILOT_CLI_RESOLVED_DIST_DIR',
    'COPILOT_HOOK_DIR',
    'COPILOT_PLUGIN_DATA',
    'COPILOT_PLUGIN_ROOT',
    'COPILOT_PROJECT_DIR',
    'PLUGIN_ROOT',
  ],
  session: 'COPILOT_AGENT_SESSION_ID',
  project: 'COPILOT_PROJECT_DIR',
};
