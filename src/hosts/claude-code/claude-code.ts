import type { Host } from '../../runtime/index.ts';
import { acted, stopsIn } from './acted.ts';
import { arrival } from './arrival.ts';
import { callGroup } from './call-group.ts';
import { capabilities } from './capabilities.ts';
import { lastCompaction } from './last-compaction.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { spending } from './spending.ts';
import { parseStatusLine } from './status-line.ts';
import { claudeTools } from './tool-names.ts';
import { typed } from './typed.ts';
import { variables } from './variables.ts';

export const claudeCode: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than the timeouts in `registrations`, which start before Node does.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 60_000, stopCheckMs: 20_000 },
  tools: claudeTools,
  compaction: 'exact',
  commands: /^\/stepfast:/,
  callIdKey: 'claudecode/toolUseId',
  parse,
  render,
  acted,
  arrival,
  callGroup,
  lastCompaction,
  spending,
  stopsIn,
  typed,
  parseStatusLine,
  setup: async () => (await import('./setup.ts')).claudeCodeSetup,
  driver: async () => (await import('./drive/index.ts')).claudeCodeDriver,
};
