import type { HostVariables } from '../../runtime/index.ts';

export const variables: HostVariables = {
  agent: ['CODEX_THREAD_ID', 'CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_CI'],
  internal: ['PLUGIN_ROOT', 'PLUGIN_DATA'],
  session: 'CODEX_THREAD_ID',
};
