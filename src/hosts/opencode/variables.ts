import type { HostVariables } from '../../runtime/index.ts';
import { sessionVariable } from './events.ts';

export const variables: HostVariables = {
  agent: ['OPENCODE', 'OPENCODE_PID', sessionVariable],
  internal: ['OPENCODE_CALLER', 'OPENCODE_CLIENT', 'OPENCODE_CONFIG_CONTENT'],
  session: sessionVariable,
};
