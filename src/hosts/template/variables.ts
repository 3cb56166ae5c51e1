import type { HostVariables } from '../../runtime/index.ts';

export const variables: HostVariables = {
  agent: ['TEMPLATE_AGENT'],
  internal: ['TEMPLATE_FOLDER'],
  project: 'TEMPLATE_FOLDER',
};
