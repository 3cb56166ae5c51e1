import type { Host } from '../../runtime/index.ts';
import { capabilities } from './capabilities.ts';
import {
  acted,
  arrival,
  compactionState,
  isStarting,
  lastCompaction,
  lastMessage,
  writtenUntil,
} from './events-file.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { spending } from './spending.ts';
import { copilotTools } from './tool-names.ts';
import { variables } from './variables.ts';

export const copilot: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than the timeouts in `registrations`, which start before Node does.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 60_000, stopCheckMs: 20_000 },
  tools: copilotTools,
  compaction: 'hint',
  commands: /^\/stepfast(?:\s+|:)/,
  uniqueIds: true,
  parse,
  render,
  acted,
  arrival,
  compactionState,
  isStarting,
  lastCompaction,
  writtenUntil,
  lastMessage,
  spending,
  driver: async () => (await import('./drive/index.ts')).copilotDriver,
  setup: async () => (await import('./setup.ts')).copilotSetup,
};
