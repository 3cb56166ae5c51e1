import type { HostVariables } from '../../runtime/index.ts';

export const variables: HostVariables = {
  agent: ['GEMINI_CLI', 'GEMINI_SESSION_ID'],
  internal: ['GEMINI_CLI_NO_RELAUNCH', 'GEMINI_CWD', 'GEMINI_PLANS_DIR', 'GEMINI_PROJECT_DIR'],
  project: 'GEMINI_PROJECT_DIR',
};
