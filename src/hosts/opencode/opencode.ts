import type { Host } from '../../runtime/index.ts';
import { capabilities } from './capabilities.ts';
import { callIdKey } from './events.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { spending } from './spending.ts';
import { openCodeTools } from './tool-names.ts';
import { acted, arrival, lastCompaction } from './transcript.ts';
import { variables } from './variables.ts';

export const openCode: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than those for which the plugin waits.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 60_000, stopCheckMs: 20_000 },
  tools: openCodeTools,
  compaction: 'exact',
  commands: /^\/stepfast(?:\s+|:)/,
  resets: true,
  callIdKey,
  parse,
  render,
  acted,
  arrival,
  lastCompaction,
  spending,
  setup: async () => (await import('./setup.ts')).openCodeSetup,
  driver: async () => (await import('./drive/index.ts')).openCodeDriver,
};
